// The state of each cell, folded from the events of a log. Resumed runs and results start from this state.
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

// An attempt without an end. A resumed run continues after its last whole round.
struct OpenAttempt {
  bool verified = false;
  Origin origin;                                      // with `verified`
  CellFacts facts;                                    // with `verified`
  std::vector<std::vector<protocol::Sample>> rounds;  // whole ones
  std::vector<protocol::Sample> running;              // of a round that is not whole
  double seconds = 0;                                 // wall time of the whole rounds
};

struct CellHistory : CellDescription {
  std::uint64_t attempts = 0;  // the highest number of a start
  std::optional<CellEnd> end;  // the last one; none = never finished
  std::uint64_t ended_attempt = 0;
  CellFacts facts;                        // of that end
  std::vector<protocol::Sample> samples;  // of that end's attempt, round by round; each has a phase `total`
  std::vector<std::size_t> rounds;        // number of samples of each round
  OpenAttempt open;
  bool deferred = false;           // used up its first, short deadline and was not tried again
  std::uint64_t most_rounds = 0;   // that the plan gives the cell
  double first_round_seconds = 0;  // wall time of the first round of the last attempt; 0 = none
  Origin origin;                   // origin of that end; a log that was resumed with --allow-mixed has several
};

struct RunHistory {
  std::string figure;
  std::string backend;
  std::string statistic = "median";
  std::uint64_t seed = 0;
  Document config;  // effective config of the last run
  std::string config_path;
  Document run;                                                // the last `run` event; null: the log has none
  std::optional<protocol::Device> device;                      // the last one
  std::string started;                                         // time of the first event
  std::map<std::string, protocol::MetricDescription> metrics;  // by name
  std::set<std::string> planned;   // ids, over all runs of this log; empty in logs of older programs
  std::optional<Shard> shard;      // of the last `run` event
  std::vector<CellHistory> cells;  // in the order of their first appearance
  // Reduced to the failures of cells (tools/pack_results.py). It has no numbers.
  bool without_samples = false;

  std::size_t finished() const;
  // Planned or logged, but without an end.
  std::size_t unfinished() const;
};

// Throws UsageError with the number of the line if a log is damaged, has no run or has another format.
RunHistory read_history(const std::vector<std::string>& lines, const std::string& path);

}  // namespace allocbench::front
