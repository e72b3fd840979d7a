// The command line: options, verbs and their help. What they do is in the *_command files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace allocbench::front {

struct RunOptions {
  std::string config;
  std::string backend = "auto";
  int device = 0;
  std::string out;
  bool resume = false;
  bool only_failed = false;
  bool force = false;
  std::string filter;
  std::optional<double> timeout = {};
  std::optional<std::uint64_t> seed = {};
  std::optional<std::uint64_t> os_threads = {};
  bool dry_run = false;
  bool print_config = false;
  bool quiet = false;
  std::string data;  // folder; empty = as the environment has it
  std::string workers;
};

struct ListOptions {
  std::string what;  // allocators, workloads, metrics; empty = all three
  bool json = false;
  bool all = false;
  std::string workers;
};

struct DescribeOptions {
  std::string name;
  bool json = false;
  std::string workers;
};

struct ReportOptions {
  std::string folder;
};

struct CheckOptions {
  std::vector<std::string> allocators;  // empty = all that are not broken on purpose
  std::vector<std::string> models;      // names or files; empty = the library
  std::uint64_t seeds = 10000;          // runs per allocator, spread over the models
  std::uint64_t race_seeds = 150;       // the same in the race build
  std::string strategy = "swarm";
  bool races = true;
  bool by_strategy = false;
  std::string replay;  // seed string or file
  bool shrink = false;
  std::uint64_t times = 2;
  bool list = false;
  std::string print_model;
  std::string out = "results/check";
  bool json = false;
  bool all = false;
  bool quiet = false;
  std::uint32_t jobs = 0;  // workers at once; 0 = one per core
  std::string workers;
};

using Command = std::variant<RunOptions, ListOptions, DescribeOptions, ReportOptions, CheckOptions>;

// The command, or the exit code when everything is said already (--help, --version, a usage error).
std::variant<Command, int> parse_command_line(int argc, const char* const* argv);

int run_command(const RunOptions& options);
int list_command(const ListOptions& options);
int describe_command(const DescribeOptions& options);
int report_command(const ReportOptions& options);
int check_command(const CheckOptions& options);

// stdout is a terminal and NO_COLOR is not set.
bool colours_on_stdout();

}  // namespace allocbench::front
