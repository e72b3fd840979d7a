// These are the commands of the front end to a checking worker. harness/README.md describes them in a table.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "protocol/command.hpp"
#include "protocol/model.hpp"

namespace allocbench::protocol {

// The subject of a check. Every command except Quit contains it, so no command depends on an earlier one.
struct CheckTarget {
  std::string allocator;
  Model model;
};

// Runs at most `seeds` seeds, or with the strategy dfs at most that number of schedules. With dfs, `first_seed` and
// `apart` have no effect. With `stop_at_failure` the first failure ends the search.
struct Explore {
  CheckTarget target;
  std::string strategy;
  std::uint64_t first_seed = 1;
  std::uint64_t seeds = 0;
  bool stop_at_failure = true;
  bool apart = false;  // whether each seed first runs in its own process, so that a crash costs only that run
};

struct Replay {
  CheckTarget target;
  std::string strategy;
  std::uint64_t seed = 0;
  std::optional<std::string> schedule;  // schedule to run instead of strategy and seed
  std::uint64_t times = 1;
};

struct Shrink {
  CheckTarget target;
  std::string schedule;
  bool apart = false;
};

using CheckerCommand = std::variant<Explore, Replay, Shrink, Quit>;

}  // namespace allocbench::protocol
