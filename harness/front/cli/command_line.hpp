// This file has the options of every verb and the functions that execute the verbs. The *_command files implement these
// functions, and app.hpp describes the options for CLI11.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "harness/front/check/check_command.hpp"
#include "harness/front/common/executor_options.hpp"
#include "harness/front/log/shard.hpp"
#include "harness/front/results/results.hpp"

namespace allocbench::front {

struct RunOptions {
  std::string config;
  std::string backend = "auto";
  int device = 0;
  std::string out;
  bool resume = false;
  bool only_failed = false;
  bool force = false;
  bool allow_mixed = false;
  std::string filter;
  std::optional<double> timeout = {};
  std::optional<double> minutes = {};                      // time after which the run ends
  std::string to_run_left_out = "Continue with --resume";  // how to measure what was left out for lack of time
  std::string known = {};  // earlier results; empty: kept results of this device or another GPU
  // A run of several configs with a time limit calls this when the first config has its first rounds. The results of
  // this config are then in `folder`.
  std::function<void(const std::string& folder)> first_figure = [](const std::string&) {};
  bool use_known = true;
  std::string verify = "auto";                     // auto or full
  std::optional<std::uint64_t> memory_bytes = {};  // memory size used instead of the device's own
  std::optional<std::uint64_t> seed = {};
  bool full = false;
  ExecutorOptions executor = {};
  bool dry_run = false;
  bool print_config = false;
  bool quiet = false;
  bool profile = false;
  bool one_by_one = false;
  std::string data;  // folder of data files; empty: $ALLOCBENCH_DATA
  std::string workers;
};

struct StudyOptions {
  std::string group;
  std::string configs = "configs";  // folder that contains the groups
  std::vector<std::string> only;    // names of configs; empty: all of the group
  bool started = false;             // whether only configs with a log are measured (with --resume)
  bool all_devices = false;
  bool figures = true;              // whether figures are drawn
  std::optional<Shard> shard = {};  // shard as given, without its partition
  std::string part;                 // shard and partition of a process of --device all, or "whole"
  std::uint64_t slurm = 0;          // number of shards in the script to print; 0: measure
  RunOptions run;                   // common options; `config` is empty
};

struct TryOptions {
  std::string trace;  // folder of the trace, or a config of one job
  std::optional<std::uint64_t> pool_bytes =
      {};          // pool size; if empty, 1.25 times the most requested bytes in use at once, and at least 64 MiB
  RunOptions run;  // common options; `config` is empty
};

struct ListOptions {
  std::string what;  // allocators, workloads or metrics; empty: all three
  bool json = false;
  bool names = false;
  bool all = false;
  std::string workers;
};

struct DescribeOptions {
  std::string name;
  bool json = false;
  std::string workers;
};

struct ReportOptions {
  std::vector<std::string> paths;
  bool html = false;
  std::string page;  // file of the page; empty: report.html in the first folder, or below build/drawn for kept runs
};

struct AdviseOptions {
  std::vector<std::string> arguments;  // options of plots/commands/advise.py, the only place that defines them
};

struct CompareOptions {
  std::string a;
  std::string b;
  std::string reference;  // kept runs to measure again here, instead of A and B
  std::string out = "results/with-reference";
  int device = 0;
  std::optional<double> minutes = {};  // time after which the run ends
  bool profile = false;
  std::string workers;
  std::uint64_t cells_per_family = 6;  // most cells of each family of allocators under each workload; 0: all
  std::string fail_on;                 // "regression" or empty
  bool allow_missing = false;
  double margin = 3;  // margin in percent
  std::vector<std::string> ignored;
  bool all = false;
  bool markdown = false;
  bool json = false;
};

struct MergeOptions {
  std::vector<std::string> folders;
  std::string out;
  bool allow_mixed = false;
};

struct ProfileOptions {
  std::string cell;
  std::string config;
  std::string configs = "configs";
  std::vector<std::string> phases;
  std::string out;
  std::string ncu;
  int device = 0;
  bool dry_run = false;
  std::string workers;
};

using Command = std::variant<RunOptions, StudyOptions, TryOptions, ListOptions, DescribeOptions, ReportOptions,
                             AdviseOptions, CompareOptions, MergeOptions, CheckOptions, ProfileOptions>;

// Returns the command, or the exit code if nothing is left to do (after help, version, completion, manual or a usage
// error).
std::variant<Command, int> parse_command_line(int argc, const char* const* argv);

int run_command(const RunOptions& options);
int study_command(const StudyOptions& options);
int try_command(const TryOptions& options);
int list_command(const ListOptions& options);
int describe_command(const DescribeOptions& options);
int report_command(const ReportOptions& options);
int advise_command(const AdviseOptions& options);
int compare_command(const CompareOptions& options);
int merge_command(const MergeOptions& options);
int coverage_command(const CheckOptions& options);
int profile_command(const ProfileOptions& options);
struct ReferenceMeasured {
  int code = 0;  // exit_all_ok, also if cells are not ok; another code if the run was interrupted or stopped
  std::set<std::string> ids;  // ids of the selected cells
};
// Measures cells that are ok in these runs: the cheapest ones of each family of allocators under each workload. Each
// config gets a folder with its name below options.out.
ReferenceMeasured measure_reference(const CompareOptions& options, const std::vector<Results>& runs);

}  // namespace allocbench::front
