// The protocol of harness/README.md, seen from the front end: commands out, final events in, statuses for what dies.
//
// A session survives its workers: after a death the next command starts a new process and loads the allocator again.
// Cells that were open in the dead one must be opened again, which is their owner's decision.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/front/common/status.hpp"
#include "harness/front/log/run_log.hpp"
#include "harness/front/plan/plan.hpp"
#include "harness/front/run/worker_process.hpp"
#include "harness/front/run/worker_program.hpp"

namespace allocbench::front {

// How a command ended.
struct Outcome {
  enum class Kind { done, failed, interrupted };
  Kind kind = Kind::done;
  std::string event = {};  // done: the final event as it came
  CellEnd failure = {};    // failed
  double seconds = 0;      // wall time between command and answer
};

struct WorkerSettings {
  WorkerProgram program;
  int device = 0;
  std::optional<std::uint64_t> os_threads = {};
};

// The reason of a timeout that the front end noticed; workers give their own (deadlock, livelock).
inline constexpr const char* no_answer_reason = "no answer before the deadline";

class WorkerSession {
 public:
  using DeviceListener = std::function<void(const std::string& device_text)>;

  // idle runs about ten times a second while a worker works.
  WorkerSession(WorkerSettings settings, DeviceListener on_device, std::function<void()> idle);

  // Only starts a worker and waits until it is ready. Throws EnvironmentError when it cannot be.
  Outcome start(std::uint64_t device_heap_bytes);
  // Starts a worker with this batch's allocator unless one runs. `facts` receives what it tells about itself.
  Outcome load(const Batch& batch, std::uint64_t device_heap_bytes, double limit_seconds, CellFacts& facts);

  Outcome open(const Cell& cell, double limit_seconds);
  Outcome verify(const Cell& cell, double limit_seconds);
  Outcome sample(const Cell& cell, double limit_seconds);
  Outcome close(const Cell& cell, double limit_seconds);

  bool is_open(const Cell& cell) const { return open_cells_.contains(cell.id); }
  bool running() const { return process_ != nullptr; }
  // Ends the worker in peace.
  void stop();

 private:
  Outcome ask(const nlohmann::ordered_json& command, const std::string& final_event, const std::string& cell_id,
              double limit_seconds);
  std::optional<Outcome> judge(const std::string& line, const std::string& final_event, const std::string& cell_id);
  Outcome lose_worker(Status status, std::string reason);
  WorkerReply wait(double limit_seconds);

  WorkerSettings settings_;
  DeviceListener on_device_;
  std::function<void()> idle_;
  std::unique_ptr<WorkerProcess> process_;
  std::set<std::string> open_cells_;
};

}  // namespace allocbench::front
