// Forecaster predicts the time of a cell and the probability that the cell loses a worker. harness/README.md lists the
// sources of both. A forecast decides when a cell is measured and how long its short deadline is. It does not change a
// measured number.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/front/log/run_log.hpp"
#include "harness/front/plan/plan.hpp"
#include "protocol/status.hpp"

namespace allocbench::front {

// Facts about a cell from earlier results.
struct EarlierCell {
  double seconds = 0;  // time of its first round, with verification; 0: unknown
  bool failed = false;
  bool other_model = false;  // whether another card model gave the result
  std::string words;         // a text such as "its status was timeout in results/reference/h200"
};

using EarlierResults = std::map<std::string, EarlierCell>;  // facts by cell id

// A fill of the pool by the allocator's own mallocs, in a cell's first round. Cells of the same series and pool that
// follow in the same process can start from a copy of the filled pool.
struct Fill {
  double seconds = 0;    // 0: none or unknown
  bool follows = false;  // whether the process had measured a cell of the same series and pool
};

struct Forecast {
  double seconds = 0;  // time of the first round, if it ends well, without the fill of the pool
  bool is_known = false;
  double risk = 0;     // probability that the cell loses a worker
  std::string reason;  // reason in words if the risk exceeds `likely`

  static constexpr double likely = 0.5;
};

// Returns whether a cell that had this end in earlier results will probably fail or be skipped again.
bool is_expected_again(const CellEnd& end);

class Forecaster {
 public:
  // Forecast if no time is known for the cell or for another cell of its allocator in the config.
  static constexpr double unknown_seconds = 0.1;

  explicit Forecaster(EarlierResults earlier = {}) : earlier_(std::move(earlier)) {}

  // Records the time of the first round of a cell of the config `figure`. `fill` is a part of it.
  void note_round(const std::string& figure, const Cell& cell, double seconds, Fill fill = {});
  // Records the time that a fill of the cell's pool took, or at least took if the worker was killed.
  void note_fill(const Cell& cell, double seconds);
  // Records that the cell's first round did not end before its short deadline.
  void note_deferred(const std::string& figure, const Cell& cell);
  void note_end(const std::string& figure, const Cell& cell, Status status);
  // Records that a stage of the cell's verification was not finished in its usual time.
  void note_unfinished_check(const Cell& cell);
  // Records that the cell failed in an earlier run, as `words` tell. Its time in earlier results stays known.
  void note_earlier_failure(const Cell& cell, std::string words);

  Forecast about(const std::string& figure, const Cell& cell) const;
  // Returns the time to fill the cell's pool, but at most the cell's deadline. The time follows from the allocator's
  // fills in this run or its log. Returns 0 if there are none, if the workload fills no pools, or if the cell's pool is
  // empty at the start (`free_share` 1).
  double fill_seconds(const Cell& cell) const;
  // Returns the time to fill the cell's pool, from the longest fill of its series in this run, or 0 if there is none.
  // The fill took at least this time, because a short deadline may have ended it.
  double fill_seconds_of_series(const Cell& cell) const;
  // Returns the cell's part of the fills that `cells` cells will need in one process. If the process has measured one
  // of them (`is_filled`), counts only the fills that a copy of the filled pool does not save.
  double fill_part(const Cell& cell, std::size_t cells, bool is_filled) const;
  // Returns whether a verification with the same allocator and parameters had a stage that was not finished.
  bool expects_unfinished_check(const Cell& cell) const;
  // Returns the reason in words if the cell should be skipped: its series timed out at two smaller values. Otherwise
  // returns nullopt. A cell is never skipped if its series only enlarges the pool.
  std::optional<std::string> reason_to_skip(const std::string& figure, const Cell& cell) const;

 private:
  // Results of the cells of a series, by their values on the primary axis.
  struct Series {
    std::map<double, double> measured;  // seconds by value
    std::multiset<double> deferred;
    std::multiset<double> lost;  // values of cells that lost their worker
    std::multiset<double> timeouts;
  };
  // Results of the cells of an allocator in a config.
  struct Record {
    std::size_t tried = 0;
    std::size_t lost = 0;
    std::size_t timed = 0;   // number of cells with a known time
    double log_seconds = 0;  // sum of the logarithms of these times
    std::map<std::string, Series> series;
  };
  // Fills by an allocator's cells of a workload.
  struct Fills {
    double rate = 0;                          // longest seconds per GiB
    std::map<std::string, double> of_series;  // the same by series
    // The cells that could start from a copy of a filled pool, and how many of them filled the pool again. They do so,
    // for example, if they need another share of free memory, or if the allocator's heap cannot be copied.
    std::size_t followers = 0;
    std::size_t refills = 0;
  };

  Record& record(const std::string& figure, const Cell& cell) { return records_[cell.label][figure]; }
  const Series* find_series(const std::string& figure, const Cell& cell) const;
  void forecast_seconds(const std::string& figure, const Cell& cell, Forecast& forecast) const;
  void forecast_risk(const std::string& figure, const Cell& cell, Forecast& forecast) const;

  EarlierResults earlier_;
  std::map<std::string, std::map<std::string, Record>> records_;         // by label, then by config
  std::map<std::string, std::map<std::string, Fills>> fills_;            // by label, then by workload
  std::set<std::string> filling_;                                        // workloads that fill pools
  std::set<std::pair<std::string, ParameterValues>> unfinished_checks_;  // allocators and their parameters
  std::vector<double> ratios_;  // sorted ratios of times on this card to times on another model
};

}  // namespace allocbench::front
