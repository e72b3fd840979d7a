// Results: a pure function of the event log. Three printers show them: CSV, JSON and the table on stdout.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/front/log/run_history.hpp"
#include "harness/front/statistics/few_rounds.hpp"

namespace allocbench::front {

struct PhaseResult {
  std::string name;
  Rounds rounds;  // seconds
  Estimate time;
  std::size_t stored_rounds = 0;        // of a run that was kept without samples: `rounds` is empty there
  std::optional<FewRounds> few_rounds;  // where `time` has no interval because of them
  double operations = 0;                // median of the samples
  std::vector<std::size_t> throttled;   // indices of samples
  std::string not_held;                 // why launch latency may be in the first such sample's time

  std::vector<double> seconds() const;  // of all samples, in their order
  std::optional<double> throughput() const;
};

// A counter of the samples.
struct CounterResult {
  std::string name;
  Estimate value;
};

// A metric of the untimed passes. They run in one process, whose spread is not that of processes: no interval.
struct CountedResult {
  std::string metric;
  double mean = 0;
  std::size_t passes = 0;
};

// The `stop` of a cell that has no end yet.
inline constexpr const char* stop_so_far = "not finished";

// A cell that ended, or that has rounds enough for numbers before its end (`unfinished`). One that is not ok has no
// phases and no counters: no printer can show a number for it.
struct CellResult {
  CellHistory cell;
  std::vector<PhaseResult> phases;
  std::vector<CounterResult> counters;
  std::vector<CountedResult> counted;
  bool throttled = false;
  bool unfinished = false;

  Status status() const { return cell.end->status; }
};

// What the numbers of all cells come from. A figure has one of each, unless a run was resumed with --allow-mixed.
struct Provenance {
  std::vector<std::string> revisions;  // measured ones, in the order of their first cell
  std::vector<std::string> commits;    // beside them
  std::vector<std::string> cards;      // UUIDs
  std::vector<std::string> drivers;
  bool dirty = false;  // a work tree had changes

  bool mixed() const { return revisions.size() > 1 || cards.size() > 1 || drivers.size() > 1; }
};

struct Results {
  std::string figure;
  Statistic statistic = Statistic::median;
  RunHistory history;  // its cells moved into `cells`
  std::vector<CellResult> cells;
  Provenance provenance;
  std::size_t unfinished = 0;    // planned cells without an end
  std::size_t not_measured = 0;  // of them: those without numbers so far
};

Results reduce(RunHistory history);

// figure/label/axis:value/..., as --filter has it.
std::string cell_name(const std::string& figure, const CellHistory& cell);

// How a list of statuses continues: ", 3 of these not finished, 5 not measured"; empty where all ended.
std::string what_is_missing(const Results& results);

// Every planned cell ended, and none with a failure.
bool all_ok(const Results& results);

std::string results_csv(const Results& results);
std::string results_json(const Results& results);
// Aligned columns; words in place of numbers where a cell is not ok.
std::string results_table(const Results& results, bool colours);

// Writes results.csv and results.json into the folder, each by renaming: readers see the old file or the new one.
void write_results(const Results& results, const std::string& folder);

}  // namespace allocbench::front
