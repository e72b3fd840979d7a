#include "harness/front/common/problems.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/front/common/nearest_name.hpp"

namespace allocbench::front {

void Problems::add_unknown(std::string where, std::string_view kind, std::string_view found,
                           const std::vector<std::string>& valid) {
  add({std::move(where), fmt::format("unknown {} \"{}\"", kind, found),
       valid.empty() ? "nothing: there is none" : fmt::format("{}", fmt::join(valid, ", ")),
       nearest_name(found, valid)});
}

std::string format_problems(std::string_view file, const Problems& problems) {
  std::string text =
      fmt::format("{}: {} mistake{}, nothing was run\n", file, problems.size(), problems.size() == 1 ? "" : "s");
  for (const Problem& problem : problems.list()) {
    text +=
        fmt::format("  {}\n      found:   {}\n", problem.where.empty() ? "(top level)" : problem.where, problem.found);
    if (!problem.allowed.empty()) text += fmt::format("      allowed: {}\n", problem.allowed);
    if (!problem.nearest.empty()) text += fmt::format("      did you mean \"{}\"?\n", problem.nearest);
  }
  return text;
}

std::string pointer_to(std::string_view parent, std::string_view key) {
  std::string pointer(parent);
  pointer += '/';
  for (const char letter : key) {
    if (letter == '~') {
      pointer += "~0";
    } else if (letter == '/') {
      pointer += "~1";
    } else {
      pointer += letter;
    }
  }
  return pointer;
}

std::string pointer_to(std::string_view parent, std::size_t index) { return fmt::format("{}/{}", parent, index); }

}  // namespace allocbench::front
