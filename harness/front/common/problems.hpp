// The mistakes of a config: collected, so that the user sees all of them at once, and formatted in this one place.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace allocbench::front {

struct Problem {
  std::string where;    // JSON pointer, or "line 3, column 7" for text that is no JSON
  std::string found;    // what stands there, as a clause: unknown key "blokcs"
  std::string allowed;  // what may stand there; empty where `found` says all
  std::string nearest;  // the valid name closest to what was found; empty when none is close
};

class Problems {
 public:
  void add(Problem problem) { list_.push_back(std::move(problem)); }
  // A name that is not in the list of valid ones: adds that list and the nearest name.
  void add_unknown(std::string where, std::string_view kind, std::string_view found,
                   const std::vector<std::string>& valid);

  bool empty() const { return list_.empty(); }
  std::size_t size() const { return list_.size(); }
  std::vector<Problem>& list() { return list_; }
  const std::vector<Problem>& list() const { return list_; }

 private:
  std::vector<Problem> list_;
};

// file: 2 mistakes, nothing was run
//   /workload/blokcs
//       found:   unknown key "blokcs"
//       allowed: blocks, threads_per_block
//       did you mean "blocks"?
std::string format_problems(std::string_view file, const Problems& problems);

// One step deeper in a JSON pointer, with RFC 6901 escapes.
std::string pointer_to(std::string_view parent, std::string_view key);
std::string pointer_to(std::string_view parent, std::size_t index);

}  // namespace allocbench::front
