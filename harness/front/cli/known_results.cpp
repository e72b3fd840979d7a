#include "harness/front/cli/known_results.hpp"

#include <fmt/format.h>

#include <boost/algorithm/string/case_conv.hpp>
#include <boost/algorithm/string/classification.hpp>
#include <boost/algorithm/string/split.hpp>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <set>
#include <utility>

#include "harness/front/common/errors.hpp"
#include "harness/front/common/units.hpp"
#include "harness/front/compare/stored_results.hpp"
#include "harness/front/log/event_log.hpp"
#include "harness/front/results/run_files.hpp"

namespace allocbench::front {
namespace {

namespace fs = std::filesystem;

// Folds the runs of folders into what they say about each cell.
class EarlierRuns {
 public:
  // Throws UsageError for a folder that holds no readable results.
  void add(const std::string& folder) {
    for (const fs::path& file : run_files(folder)) {
      if (is_log(file)) {
        const RunHistory history = read_history(read_log_lines(file.string()).lines, file.string());
        for (const CellHistory& cell : history.cells) add(cell, folder);
      } else {
        for (const CellResult& result : read_stored_results(file.string()).cells) add(result.cell, folder);
      }
    }
  }

  EarlierResults take() {
    for (auto& [id, expected] : left_out_) {
      if (!measured_.contains(id)) earlier_.first_rounds.emplace(id, std::move(expected));
    }
    for (const auto& [id, about] : earlier_.troubles) earlier_.first_rounds.erase(id);
    return std::move(earlier_);
  }

 private:
  void add(const CellHistory& cell, const std::string& folder) {
    if (cell.end && foretells_trouble(*cell.end)) {
      earlier_.troubles[cell.id] = {Doubt::cell,
                                    fmt::format("its status was {} in {}", word(cell.end->status), folder)};
    } else if (cell.end && cell.end->left_out) {
      // Nobody knows what it takes. As the last one it cannot take the time of all others again.
      const double seconds = cell.end->expected_seconds.value_or(std::numeric_limits<double>::infinity());
      left_out_[cell.id] = {seconds, fmt::format("left out in {}", folder)};
    } else if (cell.end || cell.first_round_seconds > 0) {
      measured_.insert(cell.id);
    }
    if (cell.first_round_seconds > 0) {
      earlier_.first_rounds[cell.id] = {
          cell.first_round_seconds,
          fmt::format("its first round took {} in {}", format_limit(cell.first_round_seconds), folder)};
    }
  }

  EarlierResults earlier_;
  FirstRounds left_out_;
  std::set<std::string> measured_;  // by a run, whatever others did
};

}  // namespace

std::string reference_of(const std::string& references, const std::string& backend, const std::string& device) {
  std::vector<std::string> words;
  const std::string name = boost::to_lower_copy(backend == "cuda" ? device : backend);
  boost::split(words, name, !boost::is_alnum(), boost::token_compress_on);
  for (const std::string& each : words) {
    const fs::path folder = fs::path(references) / each;
    if (!each.empty() && fs::is_directory(folder)) return folder.string();
  }
  return "";
}

EarlierResults earlier_results(const RunOptions& options, const Target& target,
                               const std::vector<std::string>& figures) {
  EarlierRuns runs;
  if (!options.use_known) return {};
  if (!options.known.empty()) {
    try {
      runs.add(options.known);
    } catch (const UsageError& error) {
      throw UsageError(fmt::format("--known: {}", error.what()));
    }
    return runs.take();
  }
  if (!target.device) return {};
  const std::string reference = reference_of(references_folder, target.program.backend, target.device->name);
  if (reference.empty()) return {};
  for (const std::string& figure : figures) {
    const fs::path folder = fs::path(reference) / figure;
    if (!fs::is_directory(folder)) continue;
    try {
      runs.add(folder.string());
    } catch (const UsageError& error) {
      // Only the order of cells depends on it.
      if (!options.quiet) fmt::print(stderr, "allocbench: warning: {}\n", error.what());
    }
  }
  return runs.take();
}

}  // namespace allocbench::front
