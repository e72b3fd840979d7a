// `allocbench compare --with-reference` measures cells of kept runs on this machine, as one plan.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "harness/front/cli/measuring.hpp"
#include "harness/front/common/errors.hpp"
#include "harness/front/common/interrupt.hpp"
#include "harness/front/common/shell.hpp"
#include "harness/front/common/text_file.hpp"
#include "harness/front/common/units.hpp"
#include "harness/front/compare/families.hpp"

namespace allocbench::front {
namespace {

namespace fs = std::filesystem;

constexpr double default_minutes_on_gpu = 15;  // as for most groups of `study`

// The kept runs of one config, and the plan that this version of the program makes for it.
struct Kept {
  const Results* first;  // first of the runs; all have the same config
  std::map<std::string, const CellResult*> ok;
  Config config = {};
  Plan plan = {};
  std::set<std::string> picked = {};
};

std::vector<Kept> kept_figures(const std::vector<Results>& runs) {
  std::vector<Kept> figures;
  for (const Results& run : runs) {
    auto same = std::find_if(figures.begin(), figures.end(),
                             [&](const Kept& kept) { return kept.first->figure == run.figure; });
    if (same == figures.end()) same = figures.insert(figures.end(), {&run, {}});
    for (const CellResult& result : run.cells) {
      if (result.status() == Status::ok) same->ok.emplace(result.cell.id, &result);
    }
    if (same->ok.empty()) figures.erase(same);
  }
  return figures;
}

bool can_be_compared(const CellResult& result) {
  return std::any_of(result.phases.begin(), result.phases.end(),
                     [](const PhaseResult& phase) { return phase.round_count >= least_compared_rounds; });
}

struct Candidate {
  Kept* kept;
  const CellResult* result;
  // Wall time of the first round with its verification. If this time is unknown for any cell, all cells have the time
  // of their longest phase instead.
  double seconds;
};

double timed_seconds(const CellResult& result) {
  double longest = 0;
  for (const PhaseResult& phase : result.phases) {
    longest = std::max(longest, phase.time.centre);
  }
  return longest;
}

// Returns the cells that this version defines, that fit into the memory of this device, and that have enough rounds for
// a comparison.
std::vector<Candidate> candidates_of(std::vector<Kept>& figures, std::uint64_t device_memory_bytes) {
  std::vector<Candidate> cells;
  bool known = true;
  for (Kept& kept : figures) {
    for (const Batch& batch : kept.plan.batches) {
      if (batch.pool_bytes > device_memory_bytes) continue;
      for (const Cell& cell : batch.cells) {
        const auto found = kept.ok.find(cell.id);
        if (found == kept.ok.end() || !can_be_compared(*found->second)) continue;
        cells.push_back({&kept, found->second, found->second->cell.first_round_seconds});
        known = known && cells.back().seconds > 0;
      }
    }
  }
  if (!known) {
    for (Candidate& each : cells) each.seconds = timed_seconds(*each.result);
  }
  std::stable_sort(cells.begin(), cells.end(),
                   [](const Candidate& one, const Candidate& other) { return one.seconds < other.seconds; });
  return cells;
}

// Selects the cheapest cells of each family of allocators under each workload. Returns the number of cells before the
// selection.
std::size_t pick(std::vector<Kept>& figures, std::uint64_t per_family, std::uint64_t device_memory_bytes) {
  const std::vector<Candidate> cells = candidates_of(figures, device_memory_bytes);
  std::map<std::pair<std::string, std::string>, std::uint64_t> taken;
  for (const Candidate& each : cells) {
    const CellHistory& cell = each.result->cell;
    std::uint64_t& count = taken[{family_of(cell.allocator), cell.workload}];
    if (per_family > 0 && count == per_family) continue;
    ++count;
    each.kept->picked.insert(cell.id);
  }
  std::erase_if(figures, [](const Kept& kept) { return kept.picked.empty(); });
  return cells.size();
}

const std::string& backend_of(const Kept& kept) { return kept.ok.begin()->second->cell.backend; }

const std::string& executor_of(const Kept& kept) { return kept.ok.begin()->second->cell.origin.executor; }

RunOptions options_of(const CompareOptions& options, const std::vector<Kept>& figures) {
  RunOptions run;
  run.backend = backend_of(figures.front());
  for (const Kept& kept : figures) {
    if (backend_of(kept) != run.backend) {
      throw UsageError(fmt::format("{} contains runs of the back ends {} and {}. Name runs of one back end.",
                                   options.reference, run.backend, backend_of(kept)));
    }
    if (executor_of(kept) != executor_of(figures.front())) {
      throw UsageError(
          fmt::format("{} contains runs with different options of the CPU executor. Name runs with the "
                      "same options.",
                      options.reference));
    }
  }
  run.executor = executor_options_from(executor_of(figures.front()));
  run.device = options.device;
  run.resume = true;  // after an interruption the same command continues
  run.minutes = options.minutes;
  if (!run.minutes && run.backend == "cuda") run.minutes = default_minutes_on_gpu;
  run.to_run_left_out = "Run the same command again";
  run.profile = options.profile;
  run.workers = options.workers;
  return run;
}

std::string command_to_continue(const CompareOptions& options, bool no_progress) {
  std::string text =
      fmt::format("allocbench compare --with-reference {} --out {}", quoted(options.reference), quoted(options.out));
  if (options.minutes && !no_progress) text += fmt::format(" --minutes {}", *options.minutes);
  if (options.cells_per_family != CompareOptions{}.cells_per_family) {
    text += fmt::format(" --cells {}", options.cells_per_family);
  }
  if (options.device != 0) text += fmt::format(" --device {}", options.device);
  if (!options.workers.empty()) text += fmt::format(" --workers {}", quoted(options.workers));
  if (!options.fail_on.empty()) text += fmt::format(" --fail-on {}", options.fail_on);
  if (options.margin != CompareOptions{}.margin) text += fmt::format(" --margin {}", options.margin);
  for (const std::string& key : options.ignored) text += fmt::format(" --ignore {}", quoted(key));
  for (const auto& [given, option] :
       {std::pair{options.allow_missing, "--allow-missing"}, std::pair{options.all, "--all"},
        std::pair{options.markdown, "--markdown"}, std::pair{options.json, "--json"}}) {
    if (given) text += fmt::format(" {}", option);
  }
  return text;
}

fs::path folder_of(const CompareOptions& options, const Kept& kept) {
  return fs::path(options.out) / kept.first->figure;
}

// Returns the config that is stored with the run, because the current config of this name may differ.
std::string text_of(const Kept& kept) { return kept.first->history.config->dump(2) + "\n"; }

void plan_figure(const CompareOptions& options, RunOptions run, Kept& kept, const Target& target) {
  const fs::path path = folder_of(options, kept) / "config.json";
  run.seed = kept.first->history.seed;
  kept.config = checked_config(run, path.string(), text_of(kept), target);
  kept.plan = checked_plan(kept.config, target);
}

Figure figure_of(const CompareOptions& options, const RunOptions& run, Kept kept, const Target& target) {
  const std::string folder = folder_of(options, kept).string();
  create_folder(folder);
  write_text_file(kept.config.path, text_of(kept));
  keep_cells(kept.plan, kept.picked);
  return prepare_figure(run, target, std::move(kept.config), std::move(kept.plan), folder);
}

std::vector<Kept> picked_figures(const CompareOptions& options, const RunOptions& run, std::vector<Kept> figures,
                                 const Target& target) {
  bool defined = false;
  for (Kept& kept : figures) {
    plan_figure(options, run, kept, target);
    for (const Batch& batch : kept.plan.batches) {
      defined |= std::any_of(batch.cells.begin(), batch.cells.end(),
                             [&](const Cell& cell) { return kept.ok.contains(cell.id); });
    }
  }
  if (!defined) {
    throw UsageError(
        fmt::format("{}: this version of allocbench cannot measure any cell of these kept runs. Measure new runs with "
                    "this version, then keep them with tools/keep-results.sh RUN KEPT.",
                    options.reference));
  }
  const std::uint64_t memory = target.device->memory_bytes.value_or(std::numeric_limits<std::uint64_t>::max());
  const std::size_t all = pick(figures, options.cells_per_family, memory);
  if (all == 0) {
    throw UsageError(
        fmt::format("No cell of {} has both the {} rounds that a comparison needs and a pool that fits this device. "
                    "Name other kept runs.",
                    options.reference, least_compared_rounds));
  }
  std::size_t picked = 0;
  for (const Kept& kept : figures) picked += kept.picked.size();
  if (picked < all) {
    tell("allocbench: measuring the cheapest {} of {} cells (--cells selects more or fewer)\n", picked, all);
  }
  return figures;
}

}  // namespace

ReferenceMeasured measure_reference(const CompareOptions& options, const std::vector<Results>& runs) {
  std::vector<Kept> kept = kept_figures(runs);
  if (kept.empty()) {
    throw UsageError(fmt::format("No cell of {} is ok, so there is nothing to measure again. Name other kept runs.",
                                 options.reference));
  }
  install_interrupt_handlers();
  const RunOptions run = options_of(options, kept);
  const Target target = choose_target(run);
  kept = picked_figures(options, run, std::move(kept), target);
  ReferenceMeasured measured;
  std::vector<Figure> figures;
  for (Kept& each : kept) {
    measured.ids.insert(each.picked.begin(), each.picked.end());
    figures.push_back(figure_of(options, run, std::move(each), target));
  }
  const Ending ending = measure(run, target, figures, {});
  bool ok = true;
  std::size_t finished = 0;
  for (const Figure& figure : figures) {
    const Results results = write_results_of(figure.folder);
    ok = ok && all_ok(results);
    if (results.is_finished()) ++finished;
  }
  const int code = exit_code_of(
      ending, ok, fmt::format("{} of {} {} measured.", finished, counted(figures.size(), "run"), is_or_are(finished)),
      command_to_continue(options, ending.no_progress));
  measured.code = code == exit_some_not_ok ? int{exit_all_ok} : code;
  return measured;
}

}  // namespace allocbench::front
