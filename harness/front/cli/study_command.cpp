// `allocbench study GROUP` measures the configs of a group as one plan. If an allocator allows it, one worker process
// measures all cells of this allocator in a round.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "harness/front/cli/all_devices.hpp"
#include "harness/front/cli/known_results.hpp"
#include "harness/front/cli/measuring.hpp"
#include "harness/front/cli/plots_program.hpp"
#include "harness/front/cli/shards.hpp"
#include "harness/front/cli/slurm_script.hpp"
#include "harness/front/cli/suggestions.hpp"
#include "harness/front/common/errors.hpp"
#include "harness/front/common/interrupt.hpp"
#include "harness/front/common/output.hpp"
#include "harness/front/common/shell.hpp"
#include "harness/front/common/units.hpp"
#include "harness/front/log/event_log.hpp"
#include "harness/front/log/output_folder.hpp"
#include "protocol/json_members.hpp"

namespace allocbench::front {
namespace {

namespace fs = std::filesystem;

// Each of these groups consists of folders that do not have the name of the group.
const std::map<std::string, std::vector<std::string>>& named_groups() {
  static const std::map<std::string, std::vector<std::string>> groups = {
      {"papers", {"halloc2014", "kma2014", "pham2025", "vinkler2015", "xmalloc2010"}}, {"survey", {"survey2021"}}};
  return groups;
}

std::vector<std::string> known_groups(const fs::path& configs) {
  std::vector<std::string> names;
  for (const auto& [name, folders] : named_groups()) names.push_back(name);
  for (const auto& entry : fs::directory_iterator(configs)) {
    const std::string name = entry.path().filename().string();
    if (entry.is_directory() && name != "schema") names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Returns the configs of the group, in the order of their paths.
std::vector<std::string> configs_of(const StudyOptions& study) {
  const fs::path configs = study.configs;
  if (!fs::is_directory(configs)) {
    throw UsageError(
        fmt::format("There is no folder {}. Name the folder of the configs with --configs.", study.configs));
  }
  const auto named = named_groups().find(study.group);
  const std::vector<std::string> folders = named == named_groups().end() ? std::vector{study.group} : named->second;
  std::vector<std::string> paths;
  for (const std::string& folder : folders) {
    if (named != named_groups().end() && !fs::is_directory(configs / folder)) {
      throw UsageError(fmt::format("The group \"{}\" lacks its folder {} in {}.", study.group, folder, study.configs));
    }
    if (study.group == "schema" || !fs::is_directory(configs / folder)) {
      const auto known = known_groups(configs);
      throw UsageError(fmt::format("There is no group \"{}\".{} Groups in {}: {}.", study.group,
                                   did_you_mean(study.group, known), study.configs, fmt::join(known, ", ")));
    }
    for (const auto& entry : fs::recursive_directory_iterator(configs / folder)) {
      if (entry.path().extension() == ".json") paths.push_back(entry.path().string());
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

// A command to continue repeats at most this many options --only. If there are more, it has --started instead, and the
// logs determine the selection.
constexpr std::size_t most_repeated_names = 3;

struct PlannedConfig {
  Config config;
  Plan plan;
};

std::string folder_of(const StudyOptions& study, const Config& config) {
  return study.run.out.empty() ? default_folder(config) : (fs::path(study.run.out) / config.name).string();
}

// With --resume or --only-failed at least one config must have a folder.
void require_earlier_study(const StudyOptions& study, const std::vector<PlannedConfig>& planned) {
  std::vector<std::string> folders;
  for (const PlannedConfig& each : planned) folders.push_back(folder_of(study, each.config));
  require_earlier_folder(study.run, study.run.out.empty() ? folders.front() : study.run.out, folders);
}

// Keeps the configs that --started selects.
void keep_started(const StudyOptions& study, std::vector<PlannedConfig>& planned) {
  std::erase_if(planned,
                [&](const PlannedConfig& each) { return !fs::exists(events_path(folder_of(study, each.config))); });
  if (planned.empty()) {
    throw UsageError(fmt::format(
        "No config of the group \"{}\" has a log in {}. Drop --started, or name the folder of the study with --out.",
        study.group, study.run.out.empty() ? "results" : study.run.out));
  }
}

// Keeps the configs that --only names. `passed_over` has the names of the others.
void keep_only(const StudyOptions& study, std::vector<PlannedConfig>& planned,
               const std::vector<std::string>& passed_over) {
  for (const std::string& name : study.only) {
    const bool known = std::any_of(planned.begin(), planned.end(),
                                   [&](const PlannedConfig& each) { return each.config.name == name; });
    if (known) continue;
    throw UsageError(
        fmt::format("--only: the group \"{}\" has no config \"{}\" that measures something.{} --dry-run "
                    "shows the configs of the group.",
                    study.group, name, did_you_mean(name, passed_over)));
  }
  if (study.only.empty()) return;
  std::erase_if(planned, [&](const PlannedConfig& each) {
    return std::find(study.only.begin(), study.only.end(), each.config.name) == study.only.end();
  });
}

// Returns a message about configs that share a name. A name is also the folder of the results.
std::string shared_names(const std::vector<PlannedConfig>& planned) {
  std::map<std::string, std::vector<std::string>> paths;
  for (const auto& [config, plan] : planned) {
    paths[fs::path(config.name).lexically_normal().string()].push_back(config.path);
  }
  std::string mistakes;
  for (const auto& [name, of_name] : paths) {
    if (of_name.size() == 1) continue;
    mistakes += fmt::format(
        "{}{} configs have the name \"{}\": {}. Their results would share one folder. Give each config its own name.",
        mistakes.empty() ? "" : "\n", of_name.size(), name, fmt::join(of_name, " and "));
  }
  return mistakes;
}

// Returns the name of the config with this text if --only excludes it. Otherwise returns an empty text. A text without
// a name is not excluded, so its mistake is reported.
std::string passed_over_name(const StudyOptions& study, const std::string& text) {
  if (study.only.empty()) return "";
  if (protocol::nests_deeper_than(text, protocol::deepest_json)) return "";
  const protocol::Json json = protocol::Json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("name") || !json["name"].is_string()) return "";
  const std::string name = json["name"].get<std::string>();
  return std::find(study.only.begin(), study.only.end(), name) == study.only.end() ? name : "";
}

// If more configs than this have mistakes, only the names of the others are shown. A build that lacks plug-ins may
// cause mistakes in most configs.
constexpr std::size_t most_explained_configs = 3;

std::string joined(const std::vector<std::string>& mistakes, const std::vector<std::string>& paths) {
  const std::size_t shown = std::min(mistakes.size(), most_explained_configs);
  const std::vector<std::string> explained(mistakes.begin(), mistakes.begin() + static_cast<std::ptrdiff_t>(shown));
  const std::string text = fmt::format("{}", fmt::join(explained, "\n"));
  if (shown == mistakes.size()) return text;
  const std::vector<std::string> others(paths.begin() + static_cast<std::ptrdiff_t>(shown), paths.end());
  return fmt::format(
      "{}\n{} more {} mistakes: {}.\nIf this build lacks plug-ins, `make build` builds all. --only NAME "
      "measures a config that needs no other plug-ins.",
      text, others.size(), others.size() == 1 ? "config has" : "configs have", fmt::join(others, ", "));
}

// Returns the configs that measure something. All configs with mistakes are reported before anything runs. With --only,
// the mistakes of other configs do not count, so a build with few plug-ins can measure the configs that need no others.
std::vector<PlannedConfig> planned_configs(const StudyOptions& study, const Target& target) {
  std::vector<PlannedConfig> planned;
  std::vector<std::string> mistakes;
  std::vector<std::string> with_mistakes;
  std::vector<std::string> passed_over;
  for (const std::string& path : configs_of(study)) {
    try {
      const std::string text = read_config_text(path);
      if (std::string name = passed_over_name(study, text); !name.empty()) {
        passed_over.push_back(std::move(name));
        continue;
      }
      Config config = checked_config(study.run, path, text, target);
      if (config.only_draws) continue;
      Plan plan = checked_plan(config, target);
      require_one_traced_cell(plan, config.trace);
      planned.push_back({std::move(config), std::move(plan)});
    } catch (const UsageError& error) {
      mistakes.emplace_back(error.what());
      with_mistakes.push_back(path);
    }
  }
  if (!mistakes.empty()) throw UsageError(joined(mistakes, with_mistakes));
  if (const std::string shared = shared_names(planned); !shared.empty()) throw UsageError(shared);
  keep_only(study, planned, passed_over);
  if (study.started) keep_started(study, planned);
  if (planned.empty())
    throw UsageError(
        fmt::format("No config of the group \"{}\" measures anything. Choose another group.", study.group));
  return planned;
}

void print_plan(const std::vector<PlannedConfig>& planned, const EarlierResults& earlier) {
  std::size_t cells = 0;
  std::vector<const Plan*> plans;
  for (const auto& [config, plan] : planned) {
    cells += plan.cell_count();
    plans.push_back(&plan);
    show("{}: {} in {}\n", config.name, counted(plan.cell_count(), "cell"), counted(plan.batches.size(), "batch"));
  }
  show("{}, {}\n{}", counted(planned.size(), "config"), counted(cells, "cell"), describe_measuring(plans, earlier));
}

// Returns the default time limit on a GPU, in minutes.
double default_minutes(const std::string& group) { return group == "papers" ? 20 : 15; }

// Returns the UUID of the card that measured the results in the folder, if this run continues them. Otherwise returns
// an empty text.
std::string card_of(const std::string& folder, const RunOptions& options) {
  const std::string path = events_path(folder);
  if (!(options.resume || options.only_failed) || !fs::exists(path)) return "";
  const LogLines lines = read_log_lines(path);
  if (lines.lines.empty()) return "";  // the run was killed while it wrote the very first line
  const RunHistory history = read_history(lines.lines, path);
  return history.device ? history.device->uuid.value_or("") : "";
}

std::string command_to_continue(const StudyOptions& study, const RunOptions& options, const std::string& backend,
                                bool no_progress) {
  if (!study.part.empty()) return "";  // the parent program prints how to continue all parts
  std::string text = fmt::format("allocbench study {} --configs {}", quoted(study.group), quoted(study.configs));
  if (!options.out.empty()) text += fmt::format(" --out {}", quoted(options.out));
  if (study.only.size() > most_repeated_names || study.started) {
    text += " --started";
  } else {
    for (const std::string& name : study.only) text += fmt::format(" --only {}", quoted(name));
    if (study.shard) text += fmt::format(" --shard {}", study.shard->text());
  }
  if (!study.figures) text += " --no-figures";
  return text + options_to_continue(options, backend, no_progress) + (study.all_devices ? " --device all" : "");
}

// Throws UsageError if there are more shards than configs. Every shard needs a config, so that merging can detect a
// missing shard.
void require_configs_for_shards(const StudyOptions& study, std::size_t configs) {
  const std::uint64_t shards = study.shard ? study.shard->count : study.slurm;
  if (shards <= configs) return;
  throw UsageError(
      fmt::format("This study of {} has {}. A config is never divided, so the largest number of shards is "
                  "{}; found {}.",
                  study.group, counted(configs, "config"), configs, shards));
}

constexpr const char* whole_group = "whole";

// Returns the shard with its partition and drops the configs of other shards. A process of --device all has a part of
// the configs and receives the partition.
std::optional<Shard> take_shard(const StudyOptions& study, std::vector<PlannedConfig>& planned) {
  if (!study.part.empty() && study.part != whole_group) {
    try {
      return shard_of_run({{"shard", protocol::parse_object(study.part, "--part")}});
    } catch (const protocol::Malformed&) {
      throw UsageError("--part is internal to --device all. Drop it.");
    }
  }
  if (!study.shard) return std::nullopt;
  std::vector<std::string> names;
  for (const auto& [config, plan] : planned) names.push_back(config.name);
  require_configs_for_shards(study, names.size());  // some configs only draw
  Shard shard = *study.shard;
  const Partition partition = partition_of(names, shard.count, references_folder);
  shard.partition = partition.hash;
  const std::vector<std::string>& own = partition.shards[shard.index - 1];
  shard.configs = own.size();
  std::erase_if(planned, [&](const PlannedConfig& each) {
    return std::find(own.begin(), own.end(), each.config.name) == own.end();
  });
  if (!study.run.quiet) {
    tell("allocbench: shard {} has {} of {}\n", shard.text(), own.size(), counted(names.size(), "config"));
  }
  return shard;
}

std::string part_text(const std::optional<Shard>& shard) { return shard ? to_json(*shard).dump() : whole_group; }

// Stores the shard in the figure. A log must belong to one shard, because merging requires this.
void set_shard(Figure& figure, const std::optional<Shard>& shard) {
  const std::optional<Shard>& earlier = figure.history.shard;
  if (shard && figure.history.run != nullptr && earlier != shard) {
    throw UsageError(fmt::format(
        "{} belongs to {}, not to shard {} (partition {}). Continue it with its own --shard, or choose another --out.",
        events_path(figure.folder),
        earlier ? fmt::format("shard {} (partition {})", earlier->text(), earlier->partition) : "no shard",
        shard->text(), shard->partition));
  }
  figure.shard = shard ? shard : earlier;
}

bool has_value(const Results& results) {
  return std::ranges::any_of(results.cells, [](const CellResult& cell) { return cell.status() == Status::ok; });
}

// Draws the figures of the configs that have results.
void draw(const StudyOptions& study, const std::vector<std::string>& folders) {
  if (!study.figures || !study.part.empty() || interrupted()) return;
  tell("allocbench: drawing the figures of {} (--no-figures skips this)\n", counted(folders.size(), "config"));
  draw_figures(folders);
}

int measure_here(const StudyOptions& study, RunOptions options, const Target& target,
                 std::vector<PlannedConfig> planned, EarlierResults earlier, const std::optional<Shard>& shard) {
  if (options.force) {  // check all folders before the first old run is deleted
    for (const auto& [config, plan] : planned) require_free_log(folder_of(study, config));
  }
  std::vector<Figure> figures;
  for (auto& [config, plan] : planned) {
    std::string folder = folder_of(study, config);
    figures.push_back(prepare_figure(options, target, std::move(config), std::move(plan), std::move(folder)));
    set_shard(figures.back(), shard);
  }
  if (study.figures && study.part.empty()) {
    options.first_figure = [](const std::string& folder) {
      if (draw_figures({folder})) tell("allocbench: the first figure is in {}/figures\n", folder);
    };
  }
  const Ending ending = measure(options, target, figures, std::move(earlier));
  bool ok = true;
  std::size_t finished = 0;
  std::vector<std::string> drawable;
  for (const Figure& figure : figures) {
    if (!fs::exists(events_path(figure.folder))) continue;  // nothing was selected
    const Results results = write_results_of(figure.folder);
    show("{}", summary_of(results, figure.plan.cell_count(), figure.folder));
    ok = ok && all_ok(results);
    if (results.is_finished()) ++finished;
    if (has_value(results)) drawable.push_back(figure.folder);
  }
  draw(study, drawable);
  return exit_code_of(
      ending, ok,
      fmt::format("{} of {} {} finished.", finished, counted(figures.size(), "config"), is_or_are(finished)),
      command_to_continue(study, options, target.program.backend, ending.no_progress));
}

int measure_on_all_devices(const StudyOptions& study, const RunOptions& options, const Target& target,
                           const std::vector<PlannedConfig>& planned, const std::optional<Shard>& shard) {
  std::vector<ConfigShare> shares;
  std::vector<std::string> folders;
  for (const auto& [config, plan] : planned) {
    folders.push_back(folder_of(study, config));
    shares.push_back({config.name, work_of(plan), card_of(folders.back(), options)});
  }
  StudyOptions of_parts = study;
  of_parts.part = part_text(shard);
  const int code = study_on_all_devices(
      of_parts, target, shares, command_to_continue(study, options, target.program.backend, options.minutes == 0.0));
  std::erase_if(folders, [](const std::string& folder) { return !fs::exists(fs::path(folder) / "results.json"); });
  draw(study, folders);
  return code;
}

}  // namespace

int study_command(const StudyOptions& study) {
  install_interrupt_handlers();
  RunOptions options = study.run;
  // Mistakes are reported before a worker starts.
  const std::size_t configs = configs_of(study).size();
  require_configs_for_shards(study, study.only.empty() ? configs : std::min(configs, study.only.size()));
  if (study.slurm > 0) {
    show("{}", slurm_script(study, fs::read_symlink("/proc/self/exe").string()));
    return exit_all_ok;
  }
  RunOptions of_first_device = options;
  of_first_device.quiet |= study.all_devices;  // the warnings about each device come when it is opened
  const Target target = choose_target(of_first_device);
  std::vector<PlannedConfig> planned = planned_configs(study, target);
  const std::optional<Shard> shard = take_shard(study, planned);
  std::vector<std::string> names;
  for (const auto& [config, plan] : planned) names.push_back(config.name);
  EarlierResults earlier = earlier_results(options, target, names);
  if (options.dry_run) {
    print_plan(planned, earlier);
    return exit_all_ok;
  }
  if (study.part.empty()) require_earlier_study(study, planned);
  if (!options.minutes && target.program.backend == "cuda") options.minutes = default_minutes(study.group);
  if (study.all_devices) return measure_on_all_devices(study, options, target, planned, shard);
  return measure_here(study, std::move(options), target, std::move(planned), std::move(earlier), shard);
}

}  // namespace allocbench::front
