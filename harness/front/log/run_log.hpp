// The events of a run, as harness/README.md defines them: one function per kind.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/front/common/status.hpp"
#include "harness/front/config/config.hpp"
#include "harness/front/log/event_log.hpp"
#include "harness/front/plan/plan.hpp"

namespace allocbench::front {

// What a cell's worker told about it, besides samples. Logged with the end of the cell.
struct CellFacts {
  std::vector<std::pair<std::string, std::uint64_t>> registers;  // by phase
  std::optional<std::uint64_t> pool_bytes;
  std::optional<std::uint64_t> metadata_bytes;
  std::optional<double> init_seconds;
  std::optional<std::uint64_t> device_heap_bytes;
  std::string checks;   // JSON text, as the worker sent it; empty = not verified
  std::string counted;  // the same
};

struct CellEnd {
  Status status = Status::ok;
  std::string reason = {};
  std::string output_tail = {};

  // Some reasons go on with a dump of lanes; lists and tables have room for one line.
  std::string short_reason() const { return reason.substr(0, reason.find('\n')); }
};

class RunLog {
 public:
  explicit RunLog(EventLog& log) : log_(log) {}

  void run(const Config& config, const Catalogue& catalogue, bool resumed);
  // Once per run and again when the device differs (a resumed run on another machine).
  void device(const std::string& device_text);
  void cell(const Cell& cell);
  void start(const Cell& cell, std::uint64_t attempt);
  // The worker's answer to `sample`, as it came.
  void sample(const Cell& cell, std::uint64_t attempt, std::uint64_t index, const std::string& answer);
  void end(const Cell& cell, std::uint64_t attempt, const CellEnd& end, const CellFacts& facts);

 private:
  EventLog& log_;
  std::string last_device_;
};

}  // namespace allocbench::front
