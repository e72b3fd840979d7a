#include "harness/front/check/matrix.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/front/common/shell.hpp"
#include "harness/front/common/terminal.hpp"
#include "harness/front/common/units.hpp"

namespace allocbench::front {
namespace {

using Json = nlohmann::ordered_json;

// Shortens a known outcome to at most four letters, because the matrix has one narrow column per model.
std::string short_word(const std::string& outcome) {
  static const std::pair<const char*, const char*> words[] = {
      {"failed check", "FAIL"}, {"mask error", "MASK"},     {"deadlock", "DEAD"}, {"livelock", "LIVE"},
      {"budget", "LONG"},       {"exception", "EXC"},       {"race", "RACE"},     {"device fault", "TRAP"},
      {"crash", "CRSH"},        {"nondeterminism", "NDET"}, {"hang", "HANG"}};
  for (const auto& [whole, letters] : words) {
    if (outcome == whole) return letters;
  }
  return outcome;
}

std::string cell_word(const CheckMatrix& matrix, const std::string& allocator, std::size_t model) {
  std::string word = "-";
  for (const CheckCell& cell : matrix.cells) {
    if (cell.allocator != allocator || cell.model != model) continue;
    if (cell.finding) return short_word(cell.finding->outcome);
    if (cell.tried != 0) word = "ok";
  }
  return word;
}

std::uint64_t runs_of(const CheckMatrix& matrix, const std::string& allocator, bool races) {
  std::uint64_t runs = 0;
  for (const CheckCell& cell : matrix.cells) {
    if (cell.allocator == allocator && cell.races == races) runs += cell.tried;
  }
  return runs;
}

std::size_t widest(const std::vector<std::string>& names, std::size_t least) {
  std::size_t width = least;
  for (const std::string& name : names) width = std::max(width, name.size());
  return width;
}

double share(const CheckCell& cell) {
  return cell.tried == 0 ? 0 : static_cast<double>(cell.failed) / static_cast<double>(cell.tried);
}

double share_of(const CheckMatrix& matrix, const std::string& allocator, std::size_t model) {
  double best = 0;
  for (const CheckCell& cell : matrix.cells) {
    if (cell.allocator == allocator && cell.model == model) best = std::max(best, share(cell));
  }
  return best;
}

// Returns whether the list of findings omits this one. The list omits a finding of the race build that is not a race,
// if the search for failing schedules already reports a finding of the same allocator and model.
bool said_by_search(const CheckMatrix& matrix, const CheckCell& cell) {
  return cell.races && cell.finding->outcome != "race" &&
         std::any_of(matrix.cells.begin(), matrix.cells.end(), [&](const CheckCell& other) {
           return !other.races && other.finding && other.allocator == cell.allocator && other.model == cell.model;
         });
}

std::string outcome_of(const CheckMatrix& matrix, const CheckCell& cell) {
  return fmt::format("{} ({})", matrix.models[cell.model], cell.finding->outcome);
}

// Describes the search of one allocator: its size, the first finding with the command to replay it, and the names of
// the other models that failed.
std::string allocator_text(const CheckMatrix& matrix, const std::string& allocator, const std::string& folder) {
  std::set<std::size_t> ran;
  std::vector<const CheckCell*> found;
  for (const CheckCell& cell : matrix.cells) {
    if (cell.allocator != allocator) continue;
    if (cell.tried != 0) ran.insert(cell.model);
    if (cell.finding && !said_by_search(matrix, cell)) found.push_back(&cell);
  }
  std::string size =
      fmt::format("{} on {}", counted(runs_of(matrix, allocator, false), "schedule"), counted(ran.size(), "model"));
  if (matrix.races_looked_for) size += fmt::format(", {}", counted(runs_of(matrix, allocator, true), "race run"));
  if (found.empty()) return fmt::format("{}: nothing found in {}\n", allocator, size);
  const CheckCell& first = *found.front();
  std::string text = fmt::format("{}: {} in {}\n  {}: {}\n", allocator, counted(found.size(), "finding"), size,
                                 outcome_of(matrix, first), first.finding->summary);
  std::vector<std::string> others;
  for (std::size_t i = 1; i < found.size(); ++i) others.push_back(outcome_of(matrix, *found[i]));
  if (!others.empty())
    text += folded(fmt::format("  also failed: {}", fmt::join(others, ", ")), columns_of_stdout(), 4);
  return text + fmt::format("  {}\n", matrix.replay_command(first, folder));
}

std::string total_text(const CheckMatrix& matrix) {
  std::uint64_t runs = 0;
  for (const CheckCell& cell : matrix.cells) runs += cell.tried;
  return fmt::format("\n{} in {:.1f} s, {} of {} failed\n", counted(runs, "run"), matrix.seconds, matrix.findings(),
                     counted(matrix.cells.size(), "cell"));
}

}  // namespace

std::size_t CheckMatrix::findings() const {
  return static_cast<std::size_t>(
      std::count_if(cells.begin(), cells.end(), [](const CheckCell& cell) { return cell.finding.has_value(); }));
}

std::string CheckMatrix::replay_command(const CheckCell& cell, const std::string& folder) const {
  const Finding& finding = *cell.finding;
  const std::string file = quoted(folder + "/" + finding.file_name() + ".json");
  if (!finding.has_seed()) return fmt::format("{} --replay {}", command, file);
  return fmt::format("{}{} --replay {}", command, model_options[cell.model], quoted(finding.seed_string()));
}

std::string matrix_text(const CheckMatrix& matrix, const std::string& folder, bool colours) {
  std::string text = "models:";
  for (std::size_t i = 0; i < matrix.models.size(); ++i) {
    text += fmt::format("{}{:2} {}", i % 5 == 0 && i != 0 ? "\n       " : "  ", i + 1, matrix.models[i]);
  }
  const std::size_t width = widest(matrix.allocators, 9);
  text += fmt::format("\n\n{:{}}", "allocator", width);
  for (std::size_t i = 0; i < matrix.models.size(); ++i) text += fmt::format(" {:>4}", i + 1);
  text += fmt::format("  {:>9}{}\n", "schedules", matrix.races_looked_for ? "  race runs" : "");
  for (const std::string& allocator : matrix.allocators) {
    text += fmt::format("{:{}}", allocator, width);
    for (std::size_t i = 0; i < matrix.models.size(); ++i) {
      const std::string word = cell_word(matrix, allocator, i);
      const bool bad = word != "ok" && word != "-";
      text += colours && bad ? fmt::format(" \x1b[31m{:>4}\x1b[0m", word) : fmt::format(" {:>4}", word);
    }
    text += fmt::format("  {:>9}", runs_of(matrix, allocator, false));
    if (matrix.races_looked_for) text += fmt::format("  {:>9}", runs_of(matrix, allocator, true));
    text += '\n';
  }
  for (const CheckCell& cell : matrix.cells) {
    if (!cell.finding || said_by_search(matrix, cell)) continue;
    const Finding& finding = *cell.finding;
    text +=
        fmt::format("\n{} on {}: {}: {}\n", finding.allocator, finding.model.name, finding.outcome, finding.summary);
    if (finding.has_seed())
      text += fmt::format("  seed {}, after {} of {}\n", finding.seed, cell.tried, counted(cell.planned, "run"));
    text += fmt::format("  {}\n", matrix.replay_command(cell, folder));
  }
  return text + total_text(matrix);
}

std::string short_text(const CheckMatrix& matrix, const std::string& folder) {
  std::string text;
  for (const std::string& allocator : matrix.allocators) text += allocator_text(matrix, allocator, folder);
  return text + total_text(matrix);
}

std::string matrix_json(const CheckMatrix& matrix, const std::string& folder) {
  Json cells = Json::array();
  for (const CheckCell& cell : matrix.cells) {
    Json json = {{"allocator", cell.allocator},
                 {"model", matrix.models[cell.model]},
                 {"part", cell.races ? "races" : "schedules"},
                 {"planned", cell.planned},
                 {"tried", cell.tried},
                 {"failed", cell.failed},
                 {"steps", cell.steps}};
    json["outcome"] = cell.finding                ? cell.finding->outcome
                      : !cell.unsupported.empty() ? "unsupported"
                      : cell.tried == 0           ? "not tried"
                                                  : "ok";
    if (!cell.unsupported.empty()) json["reason"] = cell.unsupported;
    if (cell.finding) {
      json["summary"] = cell.finding->summary;
      if (cell.finding->has_seed()) json["seed_string"] = cell.finding->seed_string();
      json["replay"] = matrix.replay_command(cell, folder);
    }
    cells.push_back(json);
  }
  const Json json = {{"format", 1}, {"seconds", matrix.seconds}, {"findings", matrix.findings()}, {"cells", cells}};
  return json.dump(2) + "\n";
}

std::string strategy_table(const std::vector<std::pair<std::string, CheckMatrix>>& by_strategy) {
  const CheckMatrix& any = by_strategy.front().second;
  std::string text = "| allocator | model |";
  for (const auto& [strategy, matrix] : by_strategy) text += fmt::format(" {} |", strategy);
  text += "\n|---|---|";
  for (std::size_t i = 0; i < by_strategy.size(); ++i) text += "---:|";
  text += '\n';
  for (const std::string& allocator : any.allocators) {
    // Each allocator has one row. The row shows the model with the largest share of failing runs under any strategy.
    std::size_t best_model = 0;
    double best = -1;
    for (std::size_t model = 0; model < any.models.size(); ++model) {
      for (const auto& [strategy, matrix] : by_strategy) {
        if (share_of(matrix, allocator, model) > best) {
          best = share_of(matrix, allocator, model);
          best_model = model;
        }
      }
    }
    text += fmt::format("| `{}` | {} |", allocator, any.models[best_model]);
    for (const auto& [strategy, matrix] : by_strategy) {
      const double value = 100 * share_of(matrix, allocator, best_model);
      text += value == 0 ? " – |" : fmt::format(" {:.{}f} |", value, value < 1 ? 2 : value < 10 ? 1 : 0);
    }
    text += '\n';
  }
  return text;
}

}  // namespace allocbench::front
