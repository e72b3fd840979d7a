// The events of a run, as harness/README.md defines them: one function per kind.
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
  std::vector<std::pair<std::string, std::uint64_t>> registers;    // by phase
  std::vector<std::pair<std::string, std::uint64_t>> local_bytes;  // by phase
  std::optional<std::uint64_t> pool_bytes;
  std::optional<std::uint64_t> metadata_bytes;
  std::optional<double> init_seconds;
  std::optional<std::uint64_t> device_heap_bytes;
  std::optional<protocol::Checks> checks;  // absent: not verified
  std::optional<protocol::Counted> counted;
};

struct CellEnd {
  Status status = Status::ok;
  std::string reason = {};
  std::string output_tail = {};
  std::string stop = {};  // why the measuring of an ok cell ended
  // Skipped only for lack of time, which gives no information about the cell.
  bool left_out = false;
  // Time of the first round in earlier results, if that was too long and the round was left out.
  std::optional<double> expected_seconds = {};

  // The first line, because some reasons continue with a dump of lanes.
  std::string short_reason() const { return reason.substr(0, reason.find('\n')); }
};

// The beginning of the reason of a cell that was left out.
inline constexpr std::string_view want_of_time = "put off until all others were measured";
// Whether the cell was left out, by an `end` event or a cell of results.json. Older programs stored this only in the
// reason.
bool was_left_out(const nlohmann::ordered_json& end);

nlohmann::ordered_json to_json(const CellFacts& facts);  // its "metrics"

class RunLog {
 public:
  explicit RunLog(EventLog& log) : log_(log) {}

  // With the ids of all planned cells, so that the reader of a truncated log knows which are missing.
  void run(const Config& config, const Catalogue& catalogue, const Plan& plan, bool resumed,
           const std::optional<Shard>& shard);
  // Once per run, and again if the device differs (a resumed run on another machine).
  void device(const protocol::Device& device);
  // Processes that a worker left behind, which were killed.
  void strays(const std::vector<std::string>& names);
  void cell(const Cell& cell);
  void start(const Cell& cell, std::uint64_t attempt);
  // Results of the untimed passes of the first round. Later rounds and resumed runs do not repeat them.
  void verified(const Cell& cell, std::uint64_t attempt, const CellFacts& facts);
  void sample(const Cell& cell, std::uint64_t attempt, std::uint64_t round, std::uint64_t index,
              const protocol::Sample& sample);
  // The cell has its samples of this round. The round took `seconds` of wall time.
  void round(const Cell& cell, std::uint64_t attempt, std::uint64_t round, std::uint64_t samples, double seconds);
  // The attempt used up its first, short deadline. Another attempt follows after all other cells.
  void deferred(const Cell& cell, std::uint64_t attempt, const std::string& reason);
  void end(const Cell& cell, std::uint64_t attempt, const CellEnd& end);

 private:
  EventLog& log_;
  std::optional<protocol::Device> last_device_;
};

}  // namespace allocbench::front
