// Searches schedules: it runs one model on one allocator until something breaks. Then it repeats that run with a full
// record, and with as few preemptions as still break it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "check/subject.hpp"
#include "simt/simt.hpp"

namespace allocbench::check {

// How a run ended. The words are part of what users read: outcome_word().
enum class Outcome : std::uint8_t {
  ok,
  failed_check,  // the oracle saw a wrong block, or blocks were lost
  mask_error,
  deadlock,
  livelock,
  budget,          // too many steps, and words still change
  exception,       // escaped from device code
  device_fault,    // trap, wild free on the device heap
  nondeterminism,  // the same seed took other steps
  race             // the race build saw accesses that no order separates
};
const char* outcome_word(Outcome outcome);

// Where schedules come from: "swarm", "random", "random/16", "pct", "pct/3", "round_robin/1", "lockstep", "conflicts",
// "dfs/2". "dfs" takes all schedules with at most so many preemptions instead of drawing some. "+stores" behind any of
// them: stores are held back as well (simt/README.md); swarm does so in a quarter of its launches anyway. "+loads"
// behind any but dfs: loads read old values instead.
struct Strategy {
  simt::StrategyKind kind = simt::StrategyKind::swarm;
  std::uint32_t argument = 0;  // 0 = drawn from the seed where that is possible
  bool holds_stores = false;
  bool reads_old_values = false;

  // Nothing when there is no such strategy.
  static std::optional<Strategy> parse(std::string_view text);
  std::string text() const;
};
// All that parse() takes, for messages.
inline constexpr const char* strategy_forms =
    "swarm, random, random/N (N = 1 … 64), pct, pct/D, round_robin, round_robin/SLICE, lockstep, conflicts, "
    "dfs/PREEMPTIONS; "
    "+stores may follow each, +loads each except dfs";

struct Trial {
  Outcome outcome = Outcome::ok;
  std::string summary;  // the first line of what is wrong; empty when ok
  std::string detail;   // lane tables, race reports: whole lines
  RunRecord record;
};

// A failure with all that is known about it.
struct Failure {
  std::uint64_t seed = 0;
  Outcome outcome = Outcome::ok;
  std::string summary;
  std::string report;    // summary, drawn strategy, last calls, last steps, lane tables
  std::string schedule;  // decision list; empty in the race build, where it says nothing, and where it is too long
  std::size_t decisions = 0;
};

struct SearchResult {
  std::uint64_t tried = 0;   // runs
  std::uint64_t failed = 0;  // of them
  std::uint64_t steps = 0;
  bool exhausted = false;  // dfs: there are no more schedules
  std::optional<Failure> first;
};

// How explore() goes through seeds.
struct Exploring {
  bool stop_at_failure = true;
  // Each run first in a process of its own, which costs about as much as a run: seeds that kill it are skipped.
  bool apart = false;
};

class Search {
 public:
  // The subject must outlive it. The model must be one that the subject supports.
  Search(const Subject& subject, const Model& model);
  ~Search();

  // Runs seeds `first` to `first + count - 1`. dfs counts schedules instead, and runs none apart.
  SearchResult explore(const Strategy& strategy, std::uint64_t first, std::uint64_t count, Exploring how);
  // One seed, or the decisions of a schedule, with everything written down.
  Failure replay(const Strategy& strategy, std::uint64_t seed);
  Failure replay(const std::string& schedule);
  // Fewer decisions that still end the same way; `runs` receives the number of runs it took. `apart`: as in Exploring,
  // so that a shorter schedule may kill its process, which is another way to end.
  Failure shrink(const std::string& schedule, bool apart, std::uint64_t& runs);

 private:
  simt::ExecutorOptions options(const Strategy& strategy, std::uint64_t seed) const;
  Trial run(const simt::ExecutorOptions& options);
  // Runs in a process of its own. Nothing when that was killed or took too long.
  std::optional<Outcome> run_apart(const simt::ExecutorOptions& options);
  Failure write_down(simt::ExecutorOptions options, const Trial& seen);
  SearchResult explore_all(const Strategy& strategy, std::uint64_t count, bool stop_at_failure);

  const Subject& subject_;
  const FreshHeap fresh_;
  const Model model_;  // its steps that fill a heap are those for this allocator
  std::unique_ptr<simt::Device> device_;
};

}  // namespace allocbench::check
