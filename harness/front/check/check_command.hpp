// CheckOptions are the options of `allocbench check`. cli/command_line.cpp parses the command line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace allocbench::front {

struct CheckOptions {
  std::string program = "allocbench";   // name of this program in printed commands
  std::vector<std::string> allocators;  // allocators to check; empty: all (those broken on purpose only with `all`)
  std::vector<std::string> models;      // names or files of models; empty: the built-in models
  std::uint64_t seeds = 10000;          // runs per allocator, spread over the models
  std::uint64_t race_seeds = 150;       // runs per allocator in the race build
  std::uint64_t first_seed = 1;
  std::string strategy = "swarm";
  bool races = true;
  bool by_strategy = false;
  bool coverage = false;
  std::string replay;  // seed string or file
  bool shrink = false;
  std::uint64_t times = 2;
  bool list = false;
  std::string print_model;
  std::string out = "results/check";
  bool json = false;
  bool all = false;
  bool quiet = false;
  bool verbose = false;    // whether every model and finding is shown
  std::uint32_t jobs = 0;  // workers at once; 0 = one per core
  std::string workers;

  std::size_t workers_at_once() const;
  std::string command() const;  // "allocbench check --workers DIR", the beginning of printed commands
};

int check_command(const CheckOptions& options);

}  // namespace allocbench::front
