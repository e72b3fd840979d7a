// `allocbench compare --with-reference`: measures on this machine what kept runs have, as one plan.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/front/cli/measuring.hpp"
#include "harness/front/common/errors.hpp"
#include "harness/front/common/shell.hpp"
#include "harness/front/common/units.hpp"
#include "harness/front/run/interrupt.hpp"

namespace allocbench::front {
namespace {

namespace fs = std::filesystem;

constexpr double default_minutes_on_gpu = 15;  // as much as a group of a study has

// The config as the run kept it: that of its name may have changed since.
std::string write_config(const Results& run, const fs::path& folder) {
  const fs::path path = folder / "config.json";
  std::error_code error;
  fs::create_directories(folder, error);
  std::ofstream file(path, std::ios::binary);
  file << run.history.config->dump(2) << "\n";
  file.close();
  if (!file) throw EnvironmentError(fmt::format("{} cannot be written. Choose another --out.", path.string()));
  return path.string();
}

// What runs of one config have.
struct Kept {
  const Results* first;  // the others have its config
  std::set<std::string> ok;
};

// Runs of which nothing is ok are left out.
std::vector<Kept> kept_figures(const std::vector<Results>& runs) {
  std::vector<Kept> figures;
  for (const Results& run : runs) {
    std::set<std::string> ok;
    for (const CellResult& result : run.cells) {
      if (result.status() == Status::ok) ok.insert(result.cell.id);
    }
    if (ok.empty()) continue;
    const auto same = std::find_if(figures.begin(), figures.end(),
                                   [&](const Kept& kept) { return kept.first->figure == run.figure; });
    if (same == figures.end()) {
      figures.push_back({&run, std::move(ok)});
    } else {
      same->ok.merge(ok);
    }
  }
  return figures;
}

const std::string& backend_of(const Kept& kept) { return kept.first->cells.front().cell.backend; }

RunOptions options_of(const CompareOptions& options, const std::vector<Kept>& figures) {
  RunOptions run;
  run.backend = backend_of(figures.front());
  for (const Kept& kept : figures) {
    if (backend_of(kept) == run.backend) continue;
    throw UsageError(fmt::format("{} contains runs of the back ends {} and {}. Name runs of one back end.",
                                 options.reference, run.backend, backend_of(kept)));
  }
  run.device = options.device;
  run.resume = true;  // after an interruption the same command continues
  run.minutes = options.minutes;
  if (!run.minutes && run.backend == "cuda") run.minutes = default_minutes_on_gpu;
  run.to_run_left_out = "the same command goes on";
  run.profile = options.profile;
  run.workers = options.workers;
  return run;
}

std::string command_to_continue(const CompareOptions& options) {
  std::string text =
      fmt::format("allocbench compare --with-reference {} --out {}", quoted(options.reference), quoted(options.out));
  if (options.minutes) text += fmt::format(" --minutes {}", *options.minutes);
  if (options.device != 0) text += fmt::format(" --device {}", options.device);
  if (!options.workers.empty()) text += fmt::format(" --workers {}", quoted(options.workers));
  return text;
}

Figure figure_of(const CompareOptions& options, RunOptions run, const Kept& kept, const Target& target) {
  const std::string folder = (fs::path(options.out) / kept.first->figure).string();
  run.seed = kept.first->history.seed;
  const std::string path = write_config(*kept.first, folder);
  Config config = checked_config(run, path, read_config_text(path), target);
  Plan plan = checked_plan(config, target);
  keep_cells(plan, kept.ok);
  if (plan.batches.empty()) {
    throw UsageError(
        fmt::format("{}: this version defines none of the cells of the reference. Record a new reference with this "
                    "version: measure it, then "
                    "tools/keep-results.sh RUN KEPT.",
                    path));
  }
  return prepare_figure(run, target, std::move(config), std::move(plan), folder);
}

}  // namespace

int measure_reference(const CompareOptions& options, const std::vector<Results>& runs) {
  const std::vector<Kept> kept = kept_figures(runs);
  if (kept.empty()) return exit_all_ok;
  install_interrupt_handlers();
  const RunOptions run = options_of(options, kept);
  const Target target = choose_target(run);
  std::vector<Figure> figures;
  for (const Kept& each : kept) figures.push_back(figure_of(options, run, each, target));
  const Ending ending = measure(run, target, figures, {});
  bool ok = true;
  std::size_t finished = 0;
  for (const Figure& figure : figures) {
    const Results results = write_results_of(figure.folder);
    ok = ok && all_ok(results);
    if (results.unfinished == 0) ++finished;
  }
  const int code = exit_code_of(
      ending, ok, fmt::format("{} of {} {} measured.", finished, counted(figures.size(), "run"), is_or_are(finished)),
      command_to_continue(options));
  return code == exit_some_not_ok ? exit_all_ok : code;  // the comparison says what is not ok or not measured
}

}  // namespace allocbench::front
