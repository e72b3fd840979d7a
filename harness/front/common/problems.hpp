// These types collect the mistakes in a config, so that one message shows them together.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace allocbench::front {

struct Problem {
  std::string where;    // JSON pointer, or "line 3, column 7" if the parser failed there; empty for the top level
  std::string found;    // the wrong part of the config, such as: unknown key "blokcs"
  std::string allowed;  // allowed values; empty if `found` is enough
  std::string nearest;  // valid name closest to the found one; empty if none is close

  bool operator==(const Problem&) const = default;
};

class Problems {
 public:
  // Adds a problem. Long places and findings are cut. After limits::shown_problems problems, only the number of
  // problems grows.
  void add(Problem problem);
  // Adds a name that is not valid, with the list of valid names and the nearest one.
  void add_unknown(std::string where, std::string_view kind, std::string_view found,
                   const std::vector<std::string>& valid);
  // Adds each key of the object that is not valid, as add_unknown() does. `where` is the place of the object.
  void add_unknown_keys(std::string_view where, std::string_view kind, const nlohmann::ordered_json& object,
                        const std::vector<std::string>& valid);
  void add_wrong(std::string where, const nlohmann::ordered_json& found, std::string allowed);
  void add_missing(std::string where, std::string_view key, std::string allowed);
  // Adds the problems of `others` that this list does not have.
  void add_new(const Problems& others);

  bool empty() const { return count_ == 0; }
  std::size_t size() const { return count_; }
  std::vector<Problem>& list() { return list_; }
  const std::vector<Problem>& list() const { return list_; }

 private:
  std::vector<Problem> list_;
  std::size_t count_ = 0;
};

// Returns a text such as:
//
// file: 1 mistake, nothing was run
//   /workload/blokcs
//       found:   unknown key "blokcs"
//       allowed: blocks, threads_per_block
//       did you mean "blocks"?
std::string format_problems(std::string_view file, const Problems& problems);

// Throws UsageError with the text of format_problems() if there are problems.
void require_none(const Problems& problems, std::string_view file);

// Returns the JSON as text, cut to a length that fits into a message.
std::string excerpt(const nlohmann::ordered_json& json);

// Returns a JSON pointer that is one step deeper, with RFC 6901 escapes.
std::string pointer_to(std::string_view parent, std::string_view key);
std::string pointer_to(std::string_view parent, std::size_t index);

}  // namespace allocbench::front
