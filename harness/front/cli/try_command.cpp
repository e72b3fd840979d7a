// `allocbench try TRACE|CONFIG` replays a recorded application under the allocators of the worker, except broken and
// delayed ones, and ranks the allocators that serve its requests. For a config, the job of the config is recorded
// first.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "harness/front/cli/known_results.hpp"
#include "harness/front/cli/measuring.hpp"
#include "harness/front/cli/plots_program.hpp"
#include "harness/front/cli/recorded_job.hpp"
#include "harness/front/common/errors.hpp"
#include "harness/front/common/interrupt.hpp"
#include "harness/front/common/output.hpp"
#include "harness/front/common/shell.hpp"
#include "harness/front/common/text_file.hpp"
#include "harness/front/common/units.hpp"
#include "harness/front/plan/plan_text.hpp"
#include "traces/trace_file.hpp"

namespace allocbench::front {
namespace {

namespace fs = std::filesystem;

// Size of the pool, as a multiple of the most requested bytes that are live together.
constexpr double pool_share = 1.25;
// Least default size of the pool. Many designs use chunks of megabytes and need several chunks for each request size.
constexpr std::uint64_t least_pool = std::uint64_t{64} << 20;

traces::Trace read_recorded(const std::string& folder) {
  try {
    return traces::read_trace(folder);
  } catch (const traces::TraceError& error) {
    throw UsageError(fmt::format("{}.", error.what()));
  }
}

std::uint64_t pool_for(const TryOptions& options, const traces::Trace& trace) {
  if (options.pool_bytes) return *options.pool_bytes;
  const auto wanted = static_cast<std::uint64_t>(pool_share * static_cast<double>(traces::peak_bytes(trace)));
  constexpr std::uint64_t unit = std::uint64_t{1} << 20;
  return std::max(least_pool, (wanted + unit - 1) / unit * unit);
}

std::string trace_name(const std::string& folder) {
  const fs::path path = fs::absolute(folder).lexically_normal();
  return (path.has_filename() ? path : path.parent_path()).stem().string();
}

std::string config_text(const TryOptions& options, const std::string& name, const traces::Trace& trace) {
  const nlohmann::ordered_json config = {
      {"name", "try/" + name},
      {"description", "A recorded application, replayed under every allocator"},
      {"allocators", {"all"}},
      {"workload", {{"id", "replay"}, {"trace", fs::absolute(options.trace).lexically_normal().string()}}},
      {"pool_bytes", pool_for(options, trace)},
      {"state", "fresh"},
      {"rounds", 6},
      {"repetitions", 3},
      {"statistic", "median"},
      {"deadline_s", 20},
      {"wall_bound_s", 2},
      {"cpu", {{"rounds", 3}, {"deadline_s", 60}}}};
  return config.dump(2) + "\n";
}

void announce(const TryOptions& options, const traces::Trace& trace) {
  if (options.run.quiet) return;
  tell("allocbench: {}: {} in {}, recorded with {}; pool of {}\n", options.trace, counted(trace.calls.size(), "call"),
       counted(trace.kernels.size(), "kernel"), trace.allocator, format_bytes(pool_for(options, trace)));
  if (trace.lost() > 0) {
    tell("allocbench: {} {} lost while the trace was recorded. Record it again with larger buffers\n",
         counted(trace.lost(), "call"), trace.lost() == 1 ? "was" : "were");
  }
}

std::string command_to_continue(const TryOptions& given, const std::string& folder, const std::string& backend,
                                bool no_progress) {
  std::string text = fmt::format("allocbench try {} --out {}", quoted(given.trace), quoted(folder));
  if (given.pool_bytes) text += fmt::format(" --pool {}", *given.pool_bytes);
  return text + options_to_continue(given.run, backend, no_progress);
}

}  // namespace

int try_command(const TryOptions& given) {
  install_interrupt_handlers();
  TryOptions options = given;
  const bool is_config = fs::is_regular_file(given.trace);
  if (!is_config) static_cast<void>(read_recorded(given.trace));  // mistakes are reported before anything starts
  const Target target = choose_target(options.run);
  const std::string folder = options.run.out.empty()
                                 ? fmt::format("results/try/{}-{}", trace_name(options.trace), target.program.backend)
                                 : options.run.out;
  if (is_config && options.run.dry_run) {
    show("{}", describe_recording(options, target));
    return exit_all_ok;
  }
  if (!options.run.dry_run) require_earlier_folder(options.run, folder, {});
  if (is_config) options.trace = record_job(options, target, folder);
  const traces::Trace trace = read_recorded(options.trace);
  const std::string text = config_text(options, trace_name(given.trace), trace);
  announce(options, trace);
  const std::string path = (fs::path(folder) / "config.json").string();
  Config config = checked_config(options.run, path, text, target);
  Plan plan = checked_plan(config, target);
  EarlierResults earlier = earlier_results(options.run, target, {config.name});
  if (options.run.dry_run) {
    show("{}", describe_plan(plan, device_heaps(target.program, plan)));
    return exit_all_ok;
  }
  const Figure figure = prepare_figure(options.run, target, std::move(config), std::move(plan), folder);
  write_text_file(path, text);
  const Ending ending = measure(options.run, target, {figure}, std::move(earlier));
  const Results results = write_results_of(folder);
  const int code = exit_code_of(
      ending, true, fmt::format("{} of {} measured.", results.finished, counted(figure.plan.cell_count(), "allocator")),
      command_to_continue(given, folder, figure.plan.backend, ending.no_progress));
  if (code == exit_interrupted || code == exit_environment) return code;
  become_plots({"advise", "--tried", folder});
}

}  // namespace allocbench::front
