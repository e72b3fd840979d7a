// One side of a comparison: the cells of all runs of an argument.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/front/results/results.hpp"

namespace allocbench::front {

// Time of a phase in a run that was kept without samples.
struct StoredTime {
  Estimate time;
  std::size_t rounds = 0;
};

struct ComparedPhase {
  std::string name;
  Rounds rounds;                          // seconds
  std::optional<StoredTime> stored = {};  // where there are no samples

  std::size_t round_count() const { return stored ? stored->rounds : rounds.size(); }
};

// Several runs of a side may have the cell. Their rounds are combined.
struct ComparedCell {
  std::string id;
  std::string name;       // figure/label/axis:value/..., as --filter has it
  std::string allocator;  // its label
  std::string backend;
  Statistic statistic = Statistic::median;
  Status status = Status::ok;
  std::string reason;                             // its first line
  bool provisional = false;                       // all runs with this cell are provisional, even together
  std::vector<ComparedPhase> phases;              // nothing unless ok
  std::map<std::string, std::string> definition;  // the parts of the id; parameters as allocator/NAME, workload/NAME
};

struct Side {
  std::string argument = {};
  std::set<std::string> figures = {};
  std::set<std::string> devices = {};  // their names
  std::set<std::string> cards = {};    // their UUIDs
  std::set<std::string> drivers = {};
  std::set<std::string> revisions = {};  // commits
  bool dirty = false;                    // a work tree had changes
  std::vector<ComparedCell> cells = {};
  std::size_t not_measured = 0;
};

// The runs in and below a folder, of an event log or of a results.json, each packed (.gz, .xz) or not, or of all
// matches of a pattern. Throws UsageError if a path does not exist, contains no run, is damaged or has another format.
std::vector<Results> read_runs(const std::string& argument);

// Throws UsageError with the next step if no cell was measured.
Side side_of(const std::string& argument, const std::vector<Results>& runs,
             const std::string& to_continue = "Continue the run with --resume.");

inline Side read_side(const std::string& argument) { return side_of(argument, read_runs(argument)); }

}  // namespace allocbench::front
