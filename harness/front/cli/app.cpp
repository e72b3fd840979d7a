// This file has the options of the verbs (subcommands such as `study`), except those in app_results.cpp, and the texts
// of the help.
#include "harness/front/cli/app.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>

#include "harness/front/cli/app_parts.hpp"
#include "harness/front/cli/help_formatter.hpp"
#include "harness/front/common/limits.hpp"
#include "harness/front/common/units.hpp"
#include "harness/front/log/host.hpp"
#include "protocol/bounds.hpp"
#include "protocol/sources.hpp"

namespace allocbench::front {
namespace {

constexpr int most_devices = 1'023;  // largest number that --device accepts; no host has so many GPUs

constexpr const char* program_description =
    "allocbench measures GPU memory allocators under many workloads, on a CUDA GPU or on the CPU. "
    "It writes results to stdout and into a folder (events.jsonl, results.csv, results.json), and progress to stderr.";

// Help and manual break long lines, but not indented ones, which may have at most 72 characters.
constexpr const char* footer =
    "Examples:\n"
    "  allocbench configs/quick.json              on the GPU, else on the CPU\n"
    "  allocbench configs/quick.json --dry-run    print the plan\n"
    "  allocbench configs/quick.json --resume     continue after Ctrl-C\n"
    "  allocbench configs/quick.json --only-failed --timeout 120\n"
    "  allocbench study papers                    a group as one plan\n"
    "  allocbench try my.trace                    a recorded application\n"
    "  allocbench list allocators\n"
    "  allocbench describe halloc\n"
    "  allocbench check --allocator cm_malloc     search for bugs\n"
    "  allocbench profile smoke/comb/threads:1024  under Nsight Compute\n"
    "  allocbench report results/quick-cuda       print the results again\n"
    "  allocbench report results/reference/h200 --html    one HTML page\n"
    "  allocbench advise --sizes 48 --threads 1M --pool 1GiB\n"
    "  allocbench compare results/a results/b     what got slower or faster\n"
    "  allocbench merge results/1 results/2 --out results/all\n"
    "  allocbench help compare\n\n"
    "Exit codes: 0: all cells are ok or unsupported; 1: some cells have another status or were not measured; 2: wrong "
    "config or "
    "usage; 3: no worker, no device, a lost GPU or no room for results; 4: compare --fail-on found a regression or "
    "missing cells; 130: interrupted.\nEnvironment: "
    "ALLOCBENCH_WORKERS (folder of the workers), ALLOCBENCH_PLUGINS (folders of more plug-ins, separated by colons), "
    "ALLOCBENCH_DATA (folder of scenes and graphs), ALLOCBENCH_PLOTS (folder of the Python package plots), "
    "ALLOCBENCH_PYTHON (the Python interpreter), NO_COLOR (no colours).";

void add_device_memory_option(CLI::App& app, RunOptions& run) {
  const auto read_memory = [&run](const std::string& text) {
    run.memory_bytes = parse_bytes(text);
    if (!run.memory_bytes) throw CLI::ValidationError("--device-memory", "must be a size such as 8GiB; found " + text);
  };
  app.add_option_function<std::string>("--device-memory", read_memory,
                                       "Plan for a device with SIZE of memory: skip cells with a larger pool, and fit "
                                       "the pool to SIZE where a config says `\"pool\": \"fit\"` "
                                       "(default: the device's memory)")
      ->type_name("SIZE");
}

void add_executor_options(CLI::App& app, ExecutorOptions& executor) {
  app.add_option("--os-threads", executor.os_threads,
                 "CPU back end: number of OS threads that run thread blocks (0 = one per core)")
      ->check(whole_number(std::numeric_limits<std::uint32_t>::max()))
      ->type_name("N");
  app.add_option("--lockstep", executor.lockstep_seed,
                 "CPU back end: run on one OS thread, and advance the lanes of a warp together, call by call, as most "
                 "lanes do on a GPU. SEED selects the schedule")
      ->check(whole_number())
      ->type_name("SEED")
      ->excludes("--os-threads");
}

// Adds the options that `study`, `try` and the run of a config have in common.
void add_measuring_options(CLI::App& app, RunOptions& run) {
  app.add_option("-b,--backend", run.backend, "auto: cuda if there is a worker and a device for it, else cpu")
      ->check(CLI::IsMember({"auto", "cuda", "cpu"}))
      ->type_name("auto|cuda|cpu");
  auto* resume = app.add_flag("--resume", run.resume,
                              "Continue an earlier run: measure its unfinished cells and those that it left out");
  auto* failed = app.add_flag("--only-failed", run.only_failed,
                              "Rerun finished cells that are not ok, and cells that were left out");
  auto* force = app.add_flag("--force", run.force, "Delete an earlier run in the folder and start over");
  force->excludes(resume)->excludes(failed);
  app.add_flag("--allow-mixed", run.allow_mixed,
               "With --resume or --only-failed: continue with another revision, card, driver or options of the CPU "
               "executor. Every figure says so");
  app.add_option("--timeout", run.timeout,
                 "Deadline for each round of a cell in seconds, from 0.01 to 1000000 (default: the config's)")
      ->check(number_between(0.01, protocol::longest_seconds))
      ->type_name("S");
  app.add_option("--minutes", run.minutes,
                 "End after M minutes. The cheapest cells come first; --resume measures the rest")
      ->check(number_between(0, protocol::longest_seconds / 60))
      ->type_name("M");
  auto* known = app.add_option("--known", run.known,
                               "Folder of earlier results, which predict times and failures (default: kept results of "
                               "this device, else of another GPU). Cells that will probably fail come late")
                    ->type_name("DIR");
  app.add_flag("!--no-known", run.use_known, "Use no earlier results")->excludes(known);
  app.add_option("--seed", run.seed, "Seed of the requests and of the order of measurements (default: the config's)")
      ->check(whole_number())
      ->type_name("N");
  app.add_option(
         "--verify", run.verify,
         "full: check the contents of all blocks of every cell. auto (default): on a GPU, check the blocks of at "
         "most 1,024 callers if the full check would take longer than the cell's first round and than 50 ms, "
         "or, with --minutes, than the time that is left for each step. "
         "Cells whose counts a plot or a claim shows are always checked in full")
      ->check(CLI::IsMember({"auto", "full"}))
      ->type_name("auto|full");
  add_device_memory_option(app, run);
  app.add_flag("--full", run.full,
               "Measure the larger grid of each config that has a part `full`. This takes much longer");
  add_executor_options(app, run.executor);
  app.add_flag("--dry-run", run.dry_run, "Print the plan and measure nothing");
  app.add_flag("-q,--quiet", run.quiet, "Print neither progress nor warnings about the device");
  app.add_flag("--profile", run.profile, "Print at the end how the wall time was spent");
  app.add_flag(
      "--one-by-one", run.one_by_one,
      "Start each worker only after the previous one has ended. This takes longer and should not change results");
  app.add_option("--data", run.data,
                 "Folder with scenes/ and graphs/ (default: $ALLOCBENCH_DATA). Files that this folder lacks are read "
                 "from data/")
      ->check(CLI::ExistingDirectory.description(""))
      ->type_name("DIR");
  add_workers_option(app, run.workers);
}

void add_run_options(CLI::App& app, RunOptions& run) {
  app.add_option("-c,--config,config", run.config, "The config to run. The word --config can be left out")
      ->type_name("FILE");
  add_device_option(app, run.device);
  app.add_option("-o,--out", run.out, "Folder for the results (default results/<name>-<back end>)")->type_name("DIR");
  app.add_option("-f,--filter", run.filter,
                 "Measure only cells whose name matches this expression of at most 200 characters; --dry-run shows the "
                 "names")
      ->type_name("REGEX");
  app.add_flag("--print-config", run.print_config, "Print the config as it applies to the back end, then exit");
  add_measuring_options(app, run);
}

constexpr const char* study_footer =
    "The configs are measured together: in each round, one worker process measures an allocator's cells of all "
    "configs, if the allocator allows it. Groups: papers (halloc2014, kma2014, pham2025, vinkler2015, xmalloc2010), "
    "survey (survey2021), and each folder of configs/ by its name. On a GPU the default of --minutes is 20 for papers "
    "and 15 for any other group.\n"
    "  allocbench study papers --dry-run\n"
    "  allocbench study papers --out results/papers --resume\n"
    "  allocbench study guide --only guide/small\n"
    "  allocbench study papers --shard 1/4 --out results/shard-1\n"
    "  allocbench study papers --slurm 4 > papers.sh     then: bash papers.sh\n"
    "Exit codes: those of a run.";

void add_study(CLI::App& app, StudyOptions& study) {
  CLI::App* verb = app.add_subcommand("study", "Measure all configs of a group as one plan");
  verb->footer(study_footer);
  verb->add_option("group", study.group, "papers, survey, or a folder of configs/")->required()->type_name("GROUP");
  verb->add_option("--configs", study.configs, "Folder with the groups (default configs)")->type_name("DIR");
  verb->add_option("-o,--out", study.run.out,
                   "Each config writes into DIR/<name> (default: into results/<name>-<back end>)")
      ->type_name("DIR");
  verb->add_option("--only", study.only, "Measure only this config of the group (repeatable)")->type_name("CONFIG");
  verb->add_flag("!--no-figures", study.figures, "Draw no figures");
  auto* started = verb->add_flag("--started", study.started,
                                 "With --resume: measure only the configs whose folder of results has an event log");
  // This option is hidden. With --device all, the parent process gives it to each of its child processes. Then only the
  // parent selects the shard, draws the figures and prints the command to continue.
  verb->add_option("--part", study.part)->group("");
  const auto read_shard = [&study](const std::string& text) {
    study.shard = parse_shard(text);
    if (study.shard) return;
    throw CLI::ValidationError(
        "--shard",
        fmt::format("must be I/N with I from 1 to N and N up to {}, as in 1/4; found {}", limits::shards, text));
  };
  auto* shard = verb->add_option_function<std::string>(
                        "--shard", read_shard,
                        "Measure the I-th of N parts of the group. Machines with the same checkout and --only "
                        "make the same N parts, so they can share the work; `allocbench merge` joins their results")
                    ->type_name("I/N");
  auto* slurm = verb->add_option("--slurm", study.slurm,
                                 "Measure nothing. Print a script that submits N shards to Slurm, and a job that "
                                 "merges them. Each shard gets the other options and a folder of its own in --out. "
                                 "Shards draw no figures")
                    ->check(CLI::Range(std::uint64_t{1}, limits::shards))
                    ->excludes(shard)
                    ->type_name("N");
  const auto read_device = [&study](const std::string& text) {
    study.all_devices = text == "all";
    if (study.all_devices) return;
    std::string number = text;
    if (!whole_number(most_devices)(number).empty()) {
      throw CLI::ValidationError("--device", "must be a number or all; found " + text);
    }
    study.run.device = std::stoi(number);
  };
  verb->add_option_function<std::string>(
          "--device", read_device,
          "CUDA device number (default 0), or all, which spreads the configs over the GPUs of the host")
      ->type_name("N|all");
  add_measuring_options(*verb, study.run);
  started->needs(verb->get_option("--resume"));
  started->excludes(shard)->excludes(slurm);
  slurm->excludes(verb->get_option("--dry-run"))->excludes(verb->get_option("--force"));
}

constexpr const char* try_footer =
    "TRACE is a folder that allocbench::Traced wrote (docs/try-your-application.md). If you give a CONFIG, the command "
    "first runs the job of this config with the allocator Comb and records the calls. Then the allocators of this "
    "build replay the calls, kernel by kernel, and the command prints a ranking. The results are stored like those of "
    "any other run.\n"
    "  allocbench try my.trace\n"
    "  allocbench try my.trace --pool 2GiB --minutes 1\n"
    "  allocbench try my_job.json\n"
    "Exit codes: 0: ranked; 1: no allocator served all requests; 2: wrong usage or a damaged trace; 3: no worker, no "
    "device, a lost GPU, a job without a trace or no room for results; 130: interrupted.";

void add_try(CLI::App& app, TryOptions& trying) {
  CLI::App* verb =
      app.add_subcommand("try", "Rank allocators for your application: replay its trace with each allocator");
  verb->footer(try_footer);
  verb->add_option("trace", trying.trace, "Folder of a trace, or a config with one job to record first")
      ->required()
      ->type_name("TRACE|CONFIG");
  const auto read_pool = [&trying](const std::string& text) {
    trying.pool_bytes = parse_bytes(text);
    if (!trying.pool_bytes) throw CLI::ValidationError("--pool", "must be a size such as 2GiB; found " + text);
  };
  verb->add_option_function<std::string>("--pool", read_pool,
                                         "Pool of every allocator (default: 1.25 times the most requested bytes that "
                                         "can be in use at once, and at least 64 MiB)")
      ->type_name("SIZE");
  add_device_option(*verb, trying.run.device);
  verb->add_option("-o,--out", trying.run.out, "Folder for the results (default results/try/<name>-<back end>)")
      ->type_name("DIR");
  add_measuring_options(*verb, trying.run);
}

constexpr const char* check_footer =
    "For each failure the command prints a seed string (with the strategy dfs, the name of a file). --replay repeats "
    "the failing run and shows its last steps. --shrink searches for a shorter schedule with the same outcome. The "
    "command writes its findings into the folder --out.\n"
    "  allocbench check                 all allocators, 10,000 schedules each\n"
    "  allocbench check --allocator halloc --seeds 100000\n"
    "  allocbench check --print-model ring > mine.json     change it, then:\n"
    "  allocbench check --model mine.json\n"
    "  allocbench check --replay v1:cf_malloc:mixed_sizes:swarm:11 --shrink\n"
    "  allocbench check --coverage --allocator halloc --seeds 2000\n"
    "Exit codes: 0: nothing found; 1: something found; 2: wrong usage; 3: no worker, no room for results, or "
    "some checks were left out; 130: interrupted.";

void add_check(CLI::App& app, CheckOptions& check) {
  CLI::App* verb = app.add_subcommand("check", "Search allocators for bugs on the CPU executor, or replay a finding");
  verb->footer(check_footer);
  const CLI::Validator check_count = CLI::Range(std::uint64_t{1}, limits::check_runs).description("");
  verb->add_option("-a,--allocator", check.allocators, "Search only this allocator (repeatable)")->type_name("NAME");
  verb->add_option(
          "-m,--model", check.models,
          "A built-in model, or a JSON file with a model or a list of models (repeatable; default: all built-in "
          "models)")
      ->type_name("NAME|FILE");
  verb->add_option("--seeds", check.seeds, "Schedules per allocator, divided among the models (default 10000)")
      ->check(check_count)
      ->type_name("N");
  verb->add_option("--race-seeds", check.race_seeds,
                   "Runs per allocator in the race build, divided among the models (default 150)")
      ->check(check_count)
      ->type_name("N");
  verb->add_option("--first-seed", check.first_seed,
                   "First seed of the runs (default 1). Another seed gives other schedules")
      ->check(whole_number())
      ->type_name("N");
  verb->add_option("--strategy", check.strategy, "Strategy that makes the schedules (default swarm); see --list")
      ->type_name("S");
  verb->add_flag("!--no-races", check.races, "Do not search for races");
  auto* replay =
      verb->add_option("--replay", check.replay, "Repeat one run, given by its seed string or by the file of a finding")
          ->type_name("SEED|FILE");
  verb->add_flag("--shrink", check.shrink,
                 "With --replay: shorten the schedule of the failure. Findings of the race build have no schedule")
      ->needs(replay);
  verb->add_option("--times", check.times,
                   "With --replay: repeat the run this often and count identical repetitions (default 2)")
      ->needs(replay)
      ->check(check_count)
      ->type_name("N");
  verb->add_flag("--by-strategy", check.by_strategy,
                 "Print a table with the share of failing schedules for each strategy");
  auto* coverage =
      verb->add_flag("--coverage", check.coverage,
                     "List the lines of device code that no built-in model executes. Needs the source tree")
          ->option_text("Combines only with --allocator, --seeds, --jobs, --quiet, --workers");
  verb->add_flag("--list", check.list, "List allocators, models and strategies");
  verb->add_option("--print-model", check.print_model, "Print a built-in model as JSON")->type_name("NAME");
  verb->add_option("-o,--out", check.out, "Folder for findings (default results/check)")->type_name("DIR");
  auto* json = verb->add_flag("--json", check.json, "Print the results of a search as JSON");
  for (const char* other : {"--replay", "--by-strategy", "--list", "--print-model"}) {
    json->excludes(verb->get_option(other));
  }
  verb->add_flag("--all", check.all, "Include allocators that are broken on purpose");
  verb->add_flag("-v,--verbose", check.verbose, "Print every model, and all findings with their commands");
  verb->add_flag("-q,--quiet", check.quiet, "Print no progress");
  verb->add_option("-j,--jobs", check.jobs, "Number of workers that run at once (default: one per core)")
      ->check(CLI::Range(1u, limits::check_jobs).description(""))
      ->type_name("N");
  for (const char* other : {"--model", "--race-seeds", "--first-seed", "--strategy", "--no-races", "--replay",
                            "--by-strategy", "--list", "--print-model", "--out", "--json", "--all", "--verbose"}) {
    coverage->excludes(verb->get_option(other));
  }
  add_workers_option(*verb, check.workers);
}

void add_list(CLI::App& app, ListOptions& listing) {
  CLI::App* verb = app.add_subcommand("list", "List allocators, workloads and metrics");
  verb->add_option("what", listing.what, "What to list (default: all three)")
      ->check(CLI::IsMember({"allocators", "workloads", "metrics"}))
      ->type_name("allocators|workloads|metrics");
  auto* json = verb->add_flag("--json", listing.json, "Print JSON, with all parameters");
  verb->add_flag("--names", listing.names, "Print names only, one per line")->excludes(json);
  verb->add_flag("--all", listing.all, "Include the deliberately broken allocators that test the harness");
  add_workers_option(*verb, listing.workers);
}

void add_describe(CLI::App& app, DescribeOptions& describing) {
  CLI::App* verb = app.add_subcommand("describe", "Describe one allocator, workload or metric");
  verb->add_option("name", describing.name, "A name that `allocbench list` shows")->required()->type_name("NAME");
  verb->add_flag("--json", describing.json, "Print JSON");
  add_workers_option(*verb, describing.workers);
}

constexpr const char* profile_footer =
    "The CUDA worker runs the cell under Nsight Compute (ncu, part of the CUDA toolkit). Nsight Compute measures the "
    "kernels of one sample: time, registers, occupancy, atomics at the L2 cache, and what warps wait for most. The "
    "command line of ncu is printed too.\n  allocbench profile smoke/comb/threads:1024\n"
    "  allocbench profile quick/halloc/request_bytes:16 --phase alloc\n"
    "`allocbench CONFIG --dry-run` lists the names of cells. If the driver refuses performance counters, an "
    "administrator must "
    "allow them (ERR_NVGPUCTRPERM in NVIDIA's documentation).\n"
    "Exit codes: 0: profiled; 1: ncu ended with an error, for example because there is no device or the cell is not "
    "ok; 2: wrong usage; 3: no worker, no ncu, or no table from ncu.";

void add_profile(CLI::App& app, ProfileOptions& profiling) {
  CLI::App* verb =
      app.add_subcommand("profile", "Run one cell under Nsight Compute and show what its kernels wait for");
  verb->footer(profile_footer);
  verb->add_option("cell", profiling.cell, "Name of the cell, which begins with the name of its config")
      ->required()
      ->type_name("CELL");
  verb->add_option("-c,--config", profiling.config,
                   "Config of the cell (default: found by its name in the folder --configs)")
      ->type_name("FILE");
  verb->add_option("--configs", profiling.configs, "Folder with the configs (default configs)")->type_name("DIR");
  verb->add_option("--phase", profiling.phases, "Profile only kernels of this phase (repeatable; default all phases)")
      ->type_name("PHASE");
  verb->add_option("-o,--out", profiling.out, "Write Nsight Compute's own table to this file, as CSV")
      ->type_name("FILE");
  verb->add_option("--ncu", profiling.ncu, "The program ncu (default: on PATH, else /usr/local/cuda/bin/ncu)")
      ->type_name("FILE");
  add_device_option(*verb, profiling.device);
  verb->add_flag("--dry-run", profiling.dry_run, "Print the command and run nothing");
  add_workers_option(*verb, profiling.workers);
}

void add_help(CLI::App& app, Options& options) {
  app.add_subcommand("help", "Show this help, or the help of a command")
      ->add_option("command", options.help_about, "Which command")
      ->type_name("COMMAND");
  app.add_subcommand("version", "Show the version and the revision of the sources");
  app.add_subcommand("completion", "Print a script that completes commands and options in a shell")
      ->footer(
          "  source <(allocbench completion bash)\n"
          "  allocbench completion fish > ~/.config/fish/completions/allocbench.fish")
      ->add_option("shell", options.shell, "Which shell")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}))
      ->type_name("bash|zsh|fish");
  app.add_subcommand("manual", "Print the manual page: allocbench manual | man -l -");
}

}  // namespace

CLI::Option* add_device_option(CLI::App& app, int& device, const std::string& when) {
  return app.add_option("--device", device, when + "CUDA device number (default 0)")
      ->check(whole_number(most_devices))
      ->type_name("N");
}

CLI::Validator whole_number(std::uint64_t most) {
  const auto check = [=](std::string& text) -> std::string {
    std::uint64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, value);  // reads neither a sign nor spaces
    if (error == std::errc() && rest == end && value <= most) return "";
    return fmt::format("Value {} is not a whole number from 0 to {}", text, most);
  };
  return CLI::Validator(check, "");
}

CLI::Validator number_between(double least, double most) {
  const auto check = [=](std::string& text) -> std::string {
    double value = 0;
    if (CLI::detail::lexical_cast(text, value) && least <= value && value <= most) return "";
    return fmt::format("Value {} not in range {} to {:.0f}", text, least, std::floor(most));
  };
  return CLI::Validator(check, "");
}

void add_workers_option(CLI::App& app, std::string& workers) {
  app.add_option(
         "--workers", workers,
         "Folder with the programs allocbench-worker-* (default: $ALLOCBENCH_WORKERS, else the folder of this program)")
      ->type_name("DIR");
}

std::string version_text() {
  const protocol::Sources sources = protocol::program_sources();
  return fmt::format("allocbench {} (commit {}{}, measured revision {})", program_version(), sources.revision,
                     sources.dirty.value_or(false) ? " with changes" : "", sources.measured_revision);
}

std::unique_ptr<CLI::App> make_app(Options& options) {
  auto app = std::make_unique<CLI::App>(program_description, "allocbench");
  app->formatter(std::make_shared<HelpFormatter>());
  app->set_version_flag("--version", version_text());
  add_run_options(*app, options.run);
  add_study(*app, options.study);
  add_try(*app, options.trying);
  add_list(*app, options.list);
  add_describe(*app, options.describe);
  add_result_verbs(*app, options);
  add_check(*app, options.check);
  add_profile(*app, options.profile);
  add_help(*app, options);
  app->require_subcommand(0, 1);
  app->footer(footer);  // set last, because verbs that are added later inherit the footer
  return app;
}

}  // namespace allocbench::front
