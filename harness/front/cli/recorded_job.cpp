#include "harness/front/cli/recorded_job.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/front/common/errors.hpp"
#include "harness/front/common/output.hpp"
#include "harness/front/plan/plan_text.hpp"

namespace allocbench::front {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// The recorded job uses this allocator, whose plug-in has the recording kernels. The requests of a job hardly depend on
// its allocator.
constexpr const char* recorder = "comb";

struct Recording {
  Config config;
  Plan plan;
};

void require_one_job(const Config& config, const std::string& path) {
  if (config.only_draws)
    throw UsageError(
        fmt::format("{} measures nothing, so there is no job to record. Name a config with a workload.", path));
  std::size_t jobs = 1;
  std::vector<std::string> causes;  // axes with more than one value, each with its number of values
  for (const AxisGroup& group : config.sweep) {
    jobs *= group.size();
    if (group.size() == 1) continue;
    for (const Axis& axis : group.axes) causes.push_back(fmt::format("{}: {}", axis.pointer, group.size()));
  }
  if (jobs == 1) return;
  throw UsageError(
      fmt::format("{}: `try` needs a config with one job, but it makes {} jobs ({}). Give each axis one value, or put "
                  "the value into `workload`.",
                  path, jobs, fmt::join(causes, ", ")));
}

Json recording_of(const Json& effective, const std::string& trace) {
  Json json = effective;
  for (const char* key : {"plot", "claims", "exclude", "least_rounds", "precision", "energy_s"}) json.erase(key);
  if (json.contains("overrides")) {
    Json kept = Json::object();
    if (json["overrides"].contains(recorder)) kept[recorder] = json["overrides"][recorder];
    json["overrides"] = kept;
  }
  json["allocators"] = {recorder};
  json["rounds"] = 1;
  json["repetitions"] = 1;
  json["warmups"] = 0;
  json["trace"] = trace;
  return json;
}

Recording prepare(const TryOptions& options, const Target& target, const std::string& trace) {
  const std::string text = read_config_text(options.trace);
  const Config given = checked_config(options.run, options.trace, text, target);
  require_one_job(given, options.trace);
  Config config = checked_config(options.run, options.trace, recording_of(*given.effective, trace).dump(), target);
  Plan plan = checked_plan(config, target);
  return {std::move(config), std::move(plan)};
}

// Returns why a recording has no trace.
std::string reason_of(const Ending& ending, const Results& results) {
  if (!ending.environment.empty()) return ending.environment;
  if (results.cells.empty()) return "its recording was not finished";
  const CellHistory& cell = results.cells.front().cell;
  if (cell.end->status != Status::ok) return fmt::format("{}: {}", word(cell.end->status), cell.end->reason);
  const auto& checks = cell.facts.checks;
  return checks && checks->trace ? *checks->trace : "its recording was not verified";
}

}  // namespace

std::string record_job(const TryOptions& options, const Target& target, const std::string& folder) {
  const std::string name = fs::path(options.trace).stem().string() + ".trace";
  const std::string trace = (fs::path(folder) / name).string();
  if (options.run.resume && fs::exists(fs::path(trace) / "trace.json")) return trace;
  if (options.run.force) fs::remove_all(trace);
  RunOptions run = options.run;
  run.minutes.reset();  // the limit is for the replays
  Recording recording = prepare(options, target, trace);
  const Figure figure = prepare_figure(run, target, std::move(recording.config), std::move(recording.plan),
                                       (fs::path(folder) / "recording").string());
  const Ending ending = measure(run, target, {figure}, {});
  const Results results = write_results_of(figure.folder);
  if (ending.interrupted) throw Interrupted();
  if (!fs::exists(fs::path(trace) / "trace.json")) {
    throw EnvironmentError(fmt::format("{} left no trace: {}", options.trace, reason_of(ending, results)));
  }
  return trace;
}

std::string describe_recording(const TryOptions& options, const Target& target) {
  const Recording recording = prepare(options, target, "trace");
  return describe_plan(recording.plan, device_heaps(target.program, recording.plan));
}

}  // namespace allocbench::front
