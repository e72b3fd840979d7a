// Results are a pure function of the event log, or they are read from results.json (stored_results.hpp). Three printers
// write them: CSV, JSON and the table on stdout.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/front/log/run_history.hpp"
#include "harness/front/statistics/few_rounds.hpp"

namespace allocbench::front {

struct PhaseResult {
  std::string name;
  Rounds rounds;                // seconds of each sample; without kept samples: values of few rounds, or none
  std::size_t round_count = 0;  // number of all measured rounds
  Estimate time;
  std::optional<FewRounds> few_rounds;  // estimate from three to five rounds of a log
  double operations = 0;                // median of the samples
  std::vector<std::size_t> throttled;   // indices of throttled samples
  std::string not_held;                 // why the time of a sample may include launch latency; first reason, or empty

  std::vector<double> seconds() const;  // seconds of all samples, in their order
  std::optional<double> throughput() const;
};

// A counter of the samples.
struct CounterResult {
  std::string name;
  Estimate value;
};

// A metric of the untimed passes. It has no interval, because the passes run in one process and do not show the spread
// of processes.
struct CountedResult {
  std::string metric;
  double mean = 0;
  std::size_t passes = 0;
};

// The `stop` of a cell that has no end yet.
inline constexpr const char* stop_so_far = "not finished";

// A cell that ended, or that has no end yet but a complete round. A cell that is not ok has neither phases nor
// counters, so no printer can show a number for it.
struct CellResult {
  CellHistory cell;
  std::vector<PhaseResult> phases;
  std::vector<CounterResult> counters;
  std::vector<CountedResult> counted;
  bool provisional = false;

  Status status() const { return cell.end->status; }
  bool has_end() const { return cell.end->stop != stop_so_far; }
};

// The origins of the numbers of all cells. Without --allow-mixed a run has one revision, card and driver, and one set
// of options of the CPU executor. Merged runs can have several cards of one model, and several drivers.
struct Provenance {
  std::vector<std::string> revisions;  // measured revisions in the order of their first cell
  std::vector<std::string> commits;    // commits of these revisions
  std::vector<std::string> cards;      // UUIDs of the cards
  std::vector<std::string> drivers;
  std::vector<std::string> executors;  // options of the CPU executor; an empty text stands for none
  bool dirty = false;                  // whether a work tree had changes

  bool mixed() const { return revisions.size() > 1 || cards.size() > 1 || drivers.size() > 1 || executors.size() > 1; }
};

struct Results {
  std::string figure;
  Statistic statistic = Statistic::median;
  RunHistory history;  // history whose cells were moved into `cells`
  std::vector<CellResult> cells;
  Provenance provenance;
  std::size_t finished = 0;      // cells with a final end (CellEnd::is_final); 0 if the results are stored
  std::size_t unfinished = 0;    // planned cells without an end
  std::size_t not_measured = 0;  // planned cells without an end and without numbers
  bool is_stored = false;        // whether the results were read from results.json and not made from a log

  // Returns whether all planned cells are finished.
  bool is_finished() const { return finished == cells.size() + not_measured; }
};

Results reduce(RunHistory history);

// Returns figure/label/axis:value/..., as for --filter.
std::string cell_name(const std::string& figure, const CellHistory& cell);

// Returns the end of a list of statuses, such as ", 2 of these provisional, 3 of these not finished, 5 not measured".
// Returns an empty text if nothing is missing.
std::string what_is_missing(const Results& results);

// Returns whether every planned cell ended and no status is a failure (protocol/status.hpp).
bool all_ok(const Results& results);

std::string results_csv(const Results& results);
std::string results_json(const Results& results);
// Returns a table with aligned columns. It has words instead of numbers for a cell that is not ok.
std::string results_table(const Results& results, bool colours);

// Writes results.csv and results.json into the folder. Each file is first written under a temporary name and then
// renamed, so readers see the old file or the new one.
void write_results(const Results& results, const std::string& folder);

}  // namespace allocbench::front
