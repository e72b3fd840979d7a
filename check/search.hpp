// Search runs one model on one allocator with many schedules, and repeats the first failed run with a full record.
// shrink() reduces the schedule of a run to fewer decisions with the same outcome.
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

// Outcome is the way in which a run ended. Users see the words of outcome_word().
enum class Outcome : std::uint8_t {
  ok,
  failed_check,  // wrong block, null or contents; lost blocks; a broken invariant; or a write behind device memory
  mask_error,
  deadlock,
  livelock,
  budget,          // the launch used too many steps, but memory still changes
  exception,       // an exception escaped from device code
  device_fault,    // a trap, a wild free on the device heap, or too little memory or other resources on the host
  nondeterminism,  // two runs of the same seed took different steps or ended differently
  race             // the race build saw two accesses without an order between them
};
const char* outcome_word(Outcome outcome);

// Strategy names a rule for schedules. Examples of its text are "swarm", "random", "random/16", "pct", "pct/3",
// "round_robin/1", "lockstep", "conflicts" and "dfs/2". "dfs/2" runs all schedules with at most two preemptions; the
// others run one schedule for each seed. The suffix "+stores" holds stores back (simt/README.md). Without the suffix,
// swarm holds stores back in one of four launches on average. With the suffix "+loads", which dfs does not allow, loads
// may read old values.
struct Strategy {
  simt::StrategyKind kind = simt::StrategyKind::swarm;
  std::uint32_t argument = 0;  // number after the slash; 0: there is none (dfs: no preemption)
  bool holds_stores = false;
  bool reads_old_values = false;

  // Reads the text of a strategy. Returns nothing if there is no such strategy.
  static std::optional<Strategy> parse(std::string_view text);
  std::string text() const;
};
// Lists all forms that parse() accepts, for messages.
inline constexpr const char* strategy_forms =
    "swarm, random, random/N (N = 1 … 64), pct, pct/D, round_robin, round_robin/SLICE, lockstep, conflicts, "
    "dfs/PREEMPTIONS; "
    "+stores may follow any of them, +loads any of them except dfs";

struct Trial {
  Outcome outcome = Outcome::ok;
  std::string summary;  // first line of the failure; empty if the run is ok
  std::string detail;   // lane tables and race reports in whole lines
  RunRecord record;
};

// Failure describes a run that was repeated with a full record. The run need not have failed.
struct Failure {
  std::uint64_t seed = 0;
  Outcome outcome = Outcome::ok;
  std::string summary;
  std::string report;    // summary, strategy, lane tables, last calls and last steps; empty if the outcome is ok
  std::string schedule;  // decisions as text; empty if the outcome is a race or the text is too long
  std::size_t decisions = 0;
};

struct SearchResult {
  std::uint64_t tried = 0;   // number of runs
  std::uint64_t failed = 0;  // number of runs that failed
  std::uint64_t steps = 0;
  bool exhausted = false;  // true if dfs has no more schedules
  std::optional<Failure> first;
};

// Exploring selects how explore() runs seeds.
struct Exploring {
  bool stop_at_failure = true;
  // Whether each seed first runs in its own process, and after a failure again in this process. Seeds that kill their
  // process or take more than 5 s are skipped.
  bool apart = false;
};

class Search {
 public:
  // The subject must outlive the search and must support the model.
  Search(const Subject& subject, const Model& model);
  ~Search();

  // Runs seeds `first` to `first + count - 1`. With `stop_at_failure` the first failure ends the search. dfs ignores
  // `first`, runs at most `count` schedules, and runs none in a separate process.
  SearchResult explore(const Strategy& strategy, std::uint64_t first, std::uint64_t count, Exploring how);
  // Runs one seed, or the decisions of a schedule, with a full record.
  Failure replay(const Strategy& strategy, std::uint64_t seed);
  Failure replay(const std::string& schedule);
  // Finds fewer decisions with the same outcome. Sets `runs` to the number of runs. With `apart`, every shorter
  // schedule runs in its own process. A killed process counts as another outcome.
  Failure shrink(const std::string& schedule, bool apart, std::uint64_t& runs);

 private:
  simt::ExecutorOptions options(const Strategy& strategy, std::uint64_t seed) const;
  Trial run(const simt::ExecutorOptions& options);
  // Runs the model in a process of its own. Returns nothing if the process was killed or took too long.
  std::optional<Outcome> run_apart(const simt::ExecutorOptions& options);
  Failure write_down(simt::ExecutorOptions options, const Trial& seen);
  SearchResult explore_all(const Strategy& strategy, std::uint64_t count, bool stop_at_failure);

  const Subject& subject_;
  const FreshHeap fresh_;
  const Model model_;  // its steps that fill a heap are expanded for this allocator
  std::unique_ptr<simt::Device> device_;
};

}  // namespace allocbench::check
