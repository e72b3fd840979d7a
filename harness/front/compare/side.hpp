// A side of a comparison has the cells of all runs that one command-line argument names.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/front/results/results.hpp"

namespace allocbench::front {

// The time of a phase in a run that was kept without samples.
struct StoredTime {
  Estimate time;
  std::size_t rounds = 0;
};

struct ComparedPhase {
  std::string name;
  Rounds rounds;                          // seconds of the samples, by round
  std::optional<StoredTime> stored = {};  // time of the phase, if there are no samples

  std::size_t round_count() const { return stored ? stored->rounds : rounds.size(); }
};

// A cell of a side. If several runs have the cell, their rounds are combined, and a copy of a run counts once. If the
// cell failed in one run, it counts as failed. If a phase has no samples in a run, only the run with the most rounds
// counts for this phase.
struct ComparedCell {
  std::string id;
  std::string name;       // figure/label/axis:value/..., as for --filter
  std::string allocator;  // label of the allocator
  std::string backend;
  Statistic statistic = Statistic::median;
  Status status = Status::ok;
  std::string reason;                 // first line of the reason
  bool provisional = false;           // whether all runs with this cell, and their rounds together, are provisional
  std::vector<ComparedPhase> phases;  // phases of the cell; empty unless it is ok
  std::map<std::string, std::string>
      definition;  // parts that define the cell; parameters are named allocator/NAME or workload/NAME
};

struct Side {
  std::string argument = {};
  std::set<std::string> figures = {};
  std::set<std::string> devices = {};  // names of the devices
  std::set<std::string> cards = {};    // UUIDs of the devices
  std::set<std::string> drivers = {};
  std::set<std::string> revisions = {};  // commits of the runs
  bool dirty = false;                    // whether a work tree had changes
  std::vector<ComparedCell> cells = {};
  std::size_t not_measured = 0;
};

// Reads the runs of an argument: a folder with all folders below it, an event log, a results.json, or a pattern. Files
// may be packed with .gz or .xz. Throws UsageError if a path does not exist, contains no run, is damaged or has another
// format.
std::vector<Results> read_runs(const std::string& argument);

// Returns the side of an argument. Throws UsageError with the next step if no cell was measured.
Side side_of(const std::string& argument, const std::vector<Results>& runs,
             const std::string& to_continue = "Continue the run with --resume.");

inline Side read_side(const std::string& argument) { return side_of(argument, read_runs(argument)); }

}  // namespace allocbench::front
