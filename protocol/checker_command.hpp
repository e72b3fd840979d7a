// What the front end tells a checking worker to do (harness/README.md has the table).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "protocol/command.hpp"
#include "protocol/model.hpp"

namespace allocbench::protocol {

// What is checked: every command names it, so that a new worker can take over after any.
struct CheckTarget {
  std::string allocator;
  Model model;
};

// Runs `seeds` seeds, or with the strategy dfs as many schedules.
struct Explore {
  CheckTarget target;
  std::string strategy;
  std::uint64_t first_seed = 1;
  std::uint64_t seeds = 0;
  bool stop_at_failure = true;
  bool apart = false;  // each run first in a process of its own, so that a crash costs only that run
};

struct Replay {
  CheckTarget target;
  std::string strategy;
  std::uint64_t seed = 0;
  std::optional<std::string> schedule;  // in place of strategy and seed
  std::uint64_t times = 1;
};

struct Shrink {
  CheckTarget target;
  std::string schedule;
  bool apart = false;
};

using CheckerCommand = std::variant<Explore, Replay, Shrink, Quit>;

}  // namespace allocbench::protocol
