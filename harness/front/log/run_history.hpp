// RunHistory is the state of each cell, derived from the events of a log. A resumed run continues from this state, and
// results are computed from it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/front/common/json_text.hpp"
#include "harness/front/log/origin.hpp"
#include "harness/front/log/run_log.hpp"
#include "harness/front/log/shard.hpp"
#include "harness/front/plan/cell.hpp"

namespace allocbench::front {

// An attempt without an end. A resumed run of the same origin continues after the attempt's last complete round, if the
// attempt was verified.
struct OpenAttempt {
  bool verified = false;
  Origin origin;                                      // origin of the verification
  CellFacts facts;                                    // facts of the verification
  std::vector<std::vector<protocol::Sample>> rounds;  // samples of the complete rounds
  std::vector<protocol::Sample> running;              // samples of a round that has not ended
  double seconds = 0;                                 // wall time of the complete rounds
};

struct CellHistory : CellDescription {
  std::uint64_t attempts = 0;  // number of the last start, from 1
  std::optional<CellEnd> end;  // last end; empty if none, or if the cell began again after it was left out
  std::uint64_t ended_attempt = 0;
  CellFacts facts;  // facts of the attempt that ended
  // Samples of the rounds of the attempt that ended. Each sample has a phase `total`.
  std::vector<std::vector<protocol::Sample>> rounds;
  OpenAttempt open;
  bool deferred = false;           // whether the cell was deferred and has had neither a round nor a final end since
  bool tried = true;               // if `deferred`: whether the cell exceeded the short deadline
  std::uint64_t most_rounds = 0;   // rounds that the plan gives the cell
  double first_round_seconds = 0;  // wall time of the first round of the last attempt that has a round; 0: none
  // Time to fill the pool in that round or, if `deferred`, until the short deadline; 0: none or unknown.
  double fill_seconds = 0;
  Origin origin;  // origin of the attempt that ended; a log that was resumed with --allow-mixed has several

  // Returns the origin of the cell's numbers or failure, or null if the cell was not measured. The end of a cell that
  // was left out may come before the device is known.
  const Origin* measured_origin() const {
    if (end) return end->left_out ? nullptr : &origin;
    return open.verified ? &open.origin : nullptr;
  }
};

struct RunHistory {
  std::string figure;
  std::string backend;
  std::string statistic = "median";
  std::uint64_t seed = 0;
  Document config;                                             // effective config of the last run
  Document run;                                                // last `run` event, or null
  std::optional<protocol::Device> device;                      // last device in the log
  std::string started;                                         // time of the first event
  std::map<std::string, protocol::MetricDescription> metrics;  // metrics by name
  std::set<std::string> planned;   // planned ids of all runs of this log; empty if the log lists none
  std::vector<std::string> plan;   // planned ids of the largest run, in the order of the config
  std::optional<Shard> shard;      // shard of the last `run` event
  std::vector<CellHistory> cells;  // cells in the order of their first appearance
  // Whether the log is reduced to the failures of cells (tools/pack_results.py). Such a log has no numbers.
  bool without_samples = false;
  std::uint64_t log_bytes = 0;  // size of the log with this history; set by prepare_folder()

  // Returns the number of cells with a final end (CellEnd::is_final).
  std::size_t finished() const;
  // Returns the number of cells that are planned or logged, but have no end.
  std::size_t unfinished() const;
};

// Throws UsageError, with the number of the line, if a log is damaged or has another format. Also throws it if the log
// has no run.
RunHistory read_history(const std::vector<std::string>& lines, const std::string& path);

}  // namespace allocbench::front
