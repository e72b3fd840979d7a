#include "harness/front/common/json_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "harness/front/common/limits.hpp"
#include "protocol/bounds.hpp"
#include "protocol/json_members.hpp"

namespace allocbench::front {
namespace {

using Json = nlohmann::ordered_json;

std::string line_and_column(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, std::min(byte == 0 ? 0 : byte - 1, text.size()));
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const auto line_start = before.rfind('\n');
  const std::size_t column = before.size() - (line_start == std::string_view::npos ? 0 : line_start + 1) + 1;
  return fmt::format("line {}, column {}", line, column);
}

// This exception ends the parsing at an object with too many keys. `where` is the place of the object.
struct TooManyKeys {
  std::string where;
};

// Follows the parser, and reports duplicate keys with their place in the document.
class DuplicateKeyFinder {
 public:
  explicit DuplicateKeyFinder(Problems& problems) : problems_(problems) {}

  bool operator()(int, Json::parse_event_t event, const Json& parsed) {
    using Event = Json::parse_event_t;
    if (event == Event::object_start || event == Event::array_start) {
      count_element();
      levels_.push_back({event == Event::array_start, 0, {}, {}});
    } else if (event == Event::object_end || event == Event::array_end) {
      levels_.pop_back();
    } else if (event == Event::key) {
      Level& level = levels_.back();
      level.key = parsed.get<std::string>();
      if (!level.keys.insert(level.key).second) {
        problems_.add({pointer(), fmt::format("duplicate key \"{}\"", level.key), "each key once", ""});
      }
      if (level.keys.size() > limits::object_keys) {
        levels_.pop_back();
        throw TooManyKeys{pointer()};
      }
    } else {
      count_element();
    }
    return true;
  }

 private:
  struct Level {
    bool is_array;
    std::size_t elements;
    std::string key;
    std::set<std::string> keys;
  };

  void count_element() {
    if (!levels_.empty() && levels_.back().is_array) ++levels_.back().elements;
  }

  std::string pointer() const {
    std::string text;
    for (const Level& level : levels_) {
      text = level.is_array ? pointer_to(text, level.elements - 1) : pointer_to(text, level.key);
    }
    return text;
  }

  Problems& problems_;
  std::vector<Level> levels_;
};

// Returns the message of nlohmann::json without the name, number and position of the error, cut if it is long.
std::string plain_message(std::string_view what) {
  const auto colon = what.find(": ");
  std::string text(colon == std::string_view::npos ? what : what.substr(colon + 2));
  return text.size() <= limits::excerpt_letters ? text : text.substr(0, limits::excerpt_letters) + "...";
}

// Returns a problem for a number that is out of range. nlohmann::json reports the number without its position.
Problem number_out_of_range(std::string_view text, std::string_view what) {
  const auto open = what.find('\'');
  const auto close = what.rfind('\'');
  const std::string number(open < close ? what.substr(open + 1, close - open - 1) : "");
  const auto place = number.empty() ? std::string_view::npos : text.find(number);
  return {place == std::string_view::npos ? "" : line_and_column(text, place + 1),
          fmt::format("the number {}", number.substr(0, limits::excerpt_letters)), "numbers from -1.8e308 to 1.8e308",
          ""};
}

}  // namespace

Json parse_strictly(std::string_view text, Problems& problems) {
  if (protocol::nests_deeper_than(text, protocol::deepest_json)) {
    problems.add({"", fmt::format("more than {} levels of brackets", protocol::deepest_json),
                  fmt::format("at most {} levels", protocol::deepest_json), ""});
    return {};
  }
  if (const auto place = text.find('\0'); place != std::string_view::npos) {  // the library would ignore what follows
    problems.add({"", fmt::format("a NUL byte at byte {}", place), "text without NUL bytes", ""});
    return {};
  }
  DuplicateKeyFinder finder(problems);
  try {
    return Json::parse(
        text, [&](int depth, Json::parse_event_t event, Json& parsed) { return finder(depth, event, parsed); });
  } catch (const TooManyKeys& object) {
    problems.add({object.where, fmt::format("an object with more than {} keys", limits::object_keys),
                  fmt::format("at most {} keys", limits::object_keys), ""});
  } catch (const Json::parse_error& error) {
    problems.add({line_and_column(text, error.byte), plain_message(error.what()), "valid JSON", ""});
  } catch (const Json::out_of_range& error) {
    problems.add(number_out_of_range(text, error.what()));
  }
  return {};
}

std::string canonical_text(const Json& json) {
  // nlohmann::json sorts its keys, unlike ordered_json.
  return nlohmann::json(json).dump();
}

std::string stable_hash(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char letter : text) {
    hash ^= static_cast<unsigned char>(letter);
    hash *= 0x100000001b3u;
  }
  // FNV-1a hardly mixes the last characters into the high bits. This finaliser, which comes from MurmurHash3, mixes all
  // bits.
  hash ^= hash >> 33;
  hash *= 0xff51afd7ed558ccdu;
  hash ^= hash >> 33;
  hash *= 0xc4ceb9fe1a85ec53u;
  hash ^= hash >> 33;
  return fmt::format("{:016x}", hash);
}

}  // namespace allocbench::front
