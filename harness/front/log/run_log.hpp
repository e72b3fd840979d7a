// RunLog writes the events of a run, as harness/README.md defines them. Each kind of event has one function.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/front/config/config.hpp"
#include "harness/front/log/event_log.hpp"
#include "harness/front/log/shard.hpp"
#include "harness/front/plan/plan.hpp"
#include "protocol/event.hpp"

namespace allocbench::front {

// The answers of a cell's worker, apart from samples.
struct CellFacts {
  // Registers and bytes of local memory of a thread, by phase or untimed kernel. If a phase has several kernels, the
  // largest value counts.
  std::vector<std::pair<std::string, std::uint64_t>> registers;
  std::vector<std::pair<std::string, std::uint64_t>> local_bytes;
  std::optional<std::uint64_t> pool_bytes;
  std::optional<std::uint64_t> metadata_bytes;
  std::optional<double> init_seconds;
  std::optional<std::uint64_t> device_heap_bytes;
  std::optional<protocol::Checks> checks;  // results of the verification, if there was one
  std::optional<protocol::Counted> counted;
};

struct CellEnd {
  Status status = Status::ok;
  std::string reason = {};
  std::string output_tail = {};
  std::string stop = {};  // why the measuring of an ok cell ended
  // Whether the cell was skipped only for lack of time or memory. This gives no information about the allocator.
  bool left_out = false;
  // Forecast of the first round's time, if the cell was left out for lack of time and the forecast is known.
  std::optional<double> expected_seconds = {};
  bool too_large = false;  // whether the cell was left out for lack of memory

  // Returns whether the cell is finished. Only a cell that was left out for lack of time is not finished, because a
  // later run can still measure this cell.
  bool is_final() const { return !left_out || too_large; }
  // Returns the first line of the reason, because some reasons continue with a table of lanes.
  std::string short_reason() const { return reason.substr(0, reason.find('\n')); }
};

// The beginning of the reason for leaving out a cell, in logs without the member `left_out`.
inline constexpr std::string_view want_of_time = "put off until all others were measured";
// Returns whether the cell was left out, according to an `end` event or a cell of results.json. Without the member
// `left_out`, the reason decides.
bool was_left_out(const nlohmann::ordered_json& end);
// Reads the end from an `end` event or from a cell of results.json. Throws protocol::Malformed if the status is not a
// status word.
CellEnd end_from_json(const nlohmann::ordered_json& json);

nlohmann::ordered_json to_json(const CellFacts& facts);  // the member "metrics" of a cell

class RunLog {
 public:
  explicit RunLog(EventLog& log) : log_(log) {}

  // Records the run with the ids of all planned cells, so that the reader of a truncated log can find the missing
  // cells. `executor` has the options of the CPU executor.
  void run(const Config& config, const Catalogue& catalogue, const std::string& executor, const Plan& plan,
           bool resumed, const std::optional<Shard>& shard);
  // Records the device at the first call, and again if one of its lasting properties has changed.
  void device(const protocol::Device& device);
  // Records processes that a worker left behind and that were killed.
  void strays(const std::vector<std::string>& names);
  void cell(const Cell& cell);
  void start(const Cell& cell, std::uint64_t attempt);
  // Records the results of the untimed passes of the first round. Later rounds of the attempt do not repeat these
  // passes, even in a resumed run.
  void verified(const Cell& cell, std::uint64_t attempt, const CellFacts& facts);
  void sample(const Cell& cell, std::uint64_t attempt, std::uint64_t round, std::uint64_t index,
              const protocol::Sample& sample);
  // Records that the cell has its samples of this round. The round took `seconds` of wall time, `fill_seconds` of them
  // to fill the pool (0 if unknown).
  void round(const Cell& cell, std::uint64_t attempt, std::uint64_t round, std::uint64_t samples, double seconds,
             double fill_seconds);
  // Records that the attempt exceeded the short deadline of a first round or, if not `tried`, certainly would. If time
  // is left, another attempt follows after all other cells.
  void deferred(const Cell& cell, std::uint64_t attempt, const std::string& reason, double fill_seconds, bool tried);
  void end(const Cell& cell, std::uint64_t attempt, const CellEnd& end);

 private:
  EventLog& log_;
  std::optional<protocol::Device> last_device_;
};

}  // namespace allocbench::front
