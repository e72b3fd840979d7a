#include "harness/front/common/problems.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "harness/front/common/errors.hpp"
#include "harness/front/common/limits.hpp"
#include "harness/front/common/nearest_name.hpp"
#include "harness/front/common/units.hpp"

namespace allocbench::front {
namespace {

// Cuts a text after at most `letters` bytes. UTF-8 characters stay whole.
std::string cut(std::string text, std::size_t letters) {
  if (text.size() <= letters) return text;
  std::size_t end = letters;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

}  // namespace

void Problems::add(Problem problem) {
  ++count_;
  if (list_.size() >= limits::shown_problems) return;
  problem.where = cut(std::move(problem.where), limits::excerpt_letters);
  problem.found = cut(std::move(problem.found), 2 * limits::excerpt_letters);
  list_.push_back(std::move(problem));
}

void Problems::add_unknown(std::string where, std::string_view kind, std::string_view found,
                           const std::vector<std::string>& valid) {
  if (list_.size() >= limits::shown_problems) {
    ++count_;
    return;
  }
  std::vector<std::string> shown = valid;
  std::replace(shown.begin(), shown.end(), std::string(), std::string("\"\""));
  add({std::move(where), fmt::format("unknown {} \"{}\"", kind, found),
       shown.empty() ? "nothing" : fmt::format("{}", fmt::join(shown, ", ")), nearest_name(found, valid)});
}

void Problems::add_unknown_keys(std::string_view where, std::string_view kind, const nlohmann::ordered_json& object,
                                const std::vector<std::string>& valid) {
  for (const auto& [key, value] : object.items()) {
    if (std::find(valid.begin(), valid.end(), key) == valid.end()) {
      add_unknown(pointer_to(where, key), kind, key, valid);
    }
  }
}

void Problems::add_wrong(std::string where, const nlohmann::ordered_json& found, std::string allowed) {
  add({std::move(where), excerpt(found), std::move(allowed), ""});
}

void Problems::add_missing(std::string where, std::string_view key, std::string allowed) {
  add({std::move(where), fmt::format("the key \"{}\" is missing", key), std::move(allowed), ""});
}

void Problems::add_new(const Problems& others) {
  for (const Problem& problem : others.list_) {
    if (std::find(list_.begin(), list_.end(), problem) == list_.end()) add(problem);
  }
  count_ += others.count_ - others.list_.size();
}

std::string format_problems(std::string_view file, const Problems& problems) {
  std::string text = fmt::format("{}: {}, nothing was run\n", file, counted(problems.size(), "mistake"));
  constexpr std::size_t most_repeated_letters = 100;
  std::map<std::string_view, std::string> where_listed;
  for (const Problem& problem : problems.list()) {
    const std::string where = problem.where.empty() ? "(top level)" : problem.where;
    text += fmt::format("  {}\n      found:   {}\n", where, problem.found);
    if (!problem.allowed.empty()) {
      const auto [first, is_new] = where_listed.emplace(problem.allowed, where);
      const bool repeats = !is_new && problem.allowed.size() > most_repeated_letters;
      text += fmt::format("      allowed: {}\n", repeats ? "as for " + first->second : problem.allowed);
    }
    if (!problem.nearest.empty()) text += fmt::format("      did you mean \"{}\"?\n", problem.nearest);
  }
  if (problems.size() > problems.list().size()) {
    text += fmt::format("  and {} more\n", problems.size() - problems.list().size());
  }
  return text;
}

void require_none(const Problems& problems, std::string_view file) {
  if (problems.empty()) return;
  std::string text = format_problems(file, problems);
  text.pop_back();  // the error handler ends the line
  throw UsageError(text);
}

std::string excerpt(const nlohmann::ordered_json& json) {
  return cut(json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace), limits::excerpt_letters);
}

std::string pointer_to(std::string_view parent, std::string_view key) {
  return fmt::format("{}{}", parent, (nlohmann::ordered_json::json_pointer() / std::string(key)).to_string());
}

std::string pointer_to(std::string_view parent, std::size_t index) { return fmt::format("{}/{}", parent, index); }

}  // namespace allocbench::front
