#include "harness/front/cli/known_results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string/case_conv.hpp>
#include <boost/algorithm/string/classification.hpp>
#include <boost/algorithm/string/split.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "harness/front/common/errors.hpp"
#include "harness/front/common/limits.hpp"
#include "harness/front/common/output.hpp"
#include "harness/front/common/text_file.hpp"
#include "harness/front/log/event_log.hpp"
#include "harness/front/results/run_files.hpp"
#include "protocol/json_members.hpp"
#include "protocol/sample.hpp"

namespace allocbench::front {
namespace {

namespace fs = std::filesystem;
using protocol::Json;

// Verification is assumed to take as long as the samples of a round, but at least this long.
constexpr double least_verification_seconds = 0.03;

// Returns the seconds of a first round, from the wall time of one sample.
double first_round_of(double sample_seconds) {
  const double samples = std::max(sampling_seconds, sample_seconds);
  return samples + std::max(least_verification_seconds, samples);
}

// Returns the seconds of a sample, or 0 if nothing was measured.
double sample_seconds_of(const Json& cell) {
  if (const Json* counters = protocol::optional_member(cell, "counters")) {
    if (const auto wall = protocol::optional_seconds(*counters, "wall_time")) return *wall;
  }
  double seconds = 0;
  if (protocol::optional_member(cell, "phases") == nullptr) return 0;
  for (const Json& phase : protocol::list_member(cell, "phases")) {
    seconds = std::max(seconds, protocol::optional_seconds(phase, "median").value_or(0));
  }
  return seconds;
}

// Combines the runs of folders into the known facts about each cell.
class EarlierRuns {
 public:
  explicit EarlierRuns(bool other_model) : other_model_(other_model) {}

  // Adds the runs of a folder. Throws UsageError if it has no readable results.
  void add(const std::string& folder) {
    for (const fs::path& file : run_files(folder)) {
      const std::optional<fs::path> results = is_log(file) ? results_beside(file) : file;
      if (!is_log(file) || (is_packed(file) && results)) {
        add_results(results->string(), folder);
      } else {
        const RunHistory history = read_history(read_log_lines(file.string()).lines, file.string());
        for (const CellHistory& cell : history.cells) add(cell, folder);
      }
    }
  }

  EarlierResults take() { return std::move(earlier_); }

 private:
  void add(const CellHistory& cell, const std::string& folder) {
    note(cell.id, cell.end ? std::optional(cell.end->status) : std::nullopt, cell.end && cell.end->left_out,
         cell.first_round_seconds > 0 ? cell.first_round_seconds
                                      : (cell.end ? cell.end->expected_seconds.value_or(0) : 0),
         folder);
  }

  // Adds the facts of a results.json. Kept logs are long and often have no samples, so the results are read instead.
  void add_results(const std::string& path, const std::string& folder) {
    const std::string text = read_text_file(path, "The results file", limits::log_bytes);
    try {
      const Json document = protocol::parse_object(text, "the file");
      for (const Json& cell : protocol::list_member(protocol::object_member(document, "allocbench"), "cells")) {
        const double sample = sample_seconds_of(cell);
        const double seconds =
            sample > 0 ? first_round_of(sample) : protocol::optional_seconds(cell, "expected_seconds").value_or(0);
        note(protocol::text_member(cell, "id"), status_of(protocol::text_member(cell, "status")), was_left_out(cell),
             seconds, folder);
      }
    } catch (const protocol::Malformed& error) {
      throw UsageError(fmt::format("{} is not a results file of allocbench: {}.", path, error.what()));
    }
  }

  // Stores the facts about a cell. The time from a run that left out the cell does not replace the time from another
  // run.
  void note(const std::string& id, std::optional<Status> status, bool left_out, double seconds,
            const std::string& folder) {
    EarlierCell& cell = earlier_[id];
    cell.other_model = other_model_;
    if (seconds > 0 && (!left_out || cell.seconds == 0)) cell.seconds = seconds;
    if (!status || !is_expected_again({.status = *status, .left_out = left_out})) return;
    cell.failed = true;
    cell.words = fmt::format("its status was {} in {}", word(*status), folder);
  }

  bool other_model_;
  EarlierResults earlier_;
};

// Adds the kept results of these configs, if there are any. An unreadable folder only causes a warning, because kept
// results only help to predict times and failures.
void add_figures(EarlierRuns& runs, const fs::path& reference, const std::vector<std::string>& figures, bool quiet) {
  for (const std::string& figure : figures) {
    const fs::path folder = reference / figure;
    if (!fs::is_directory(folder)) continue;
    try {
      runs.add(folder.string());
    } catch (const UsageError& error) {
      if (!quiet) tell("allocbench: warning: {}\n", error.what());
    }
  }
}

// For a GPU without kept results, returns the folder of another GPU: the first one by name.
fs::path reference_of_any_gpu(const fs::path& references) {
  std::vector<fs::path> folders;
  if (!fs::is_directory(references)) return {};
  for (const auto& entry : fs::directory_iterator(references)) {
    if (entry.is_directory() && entry.path().filename() != "cpu") folders.push_back(entry.path());
  }
  const auto first = std::ranges::min_element(folders);
  return first == folders.end() ? fs::path{} : *first;
}

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
  if (!options.use_known) return {};
  if (!options.known.empty()) {
    EarlierRuns runs(false);
    try {
      runs.add(options.known);
    } catch (const UsageError& error) {
      throw UsageError(fmt::format("--known: {}", error.what()));
    }
    return runs.take();
  }
  if (!target.device) return {};
  const std::string own = reference_of(references_folder, target.program.backend, target.device->name);
  fs::path reference = own;
  if (own.empty() && target.program.backend == "cuda") reference = reference_of_any_gpu(references_folder);
  if (reference.empty()) return {};
  EarlierRuns runs(own.empty());
  add_figures(runs, reference, figures, options.quiet);
  return runs.take();
}

}  // namespace allocbench::front
