// WorkerProcess is one worker process: its start, its pipes and its end.
//
// Boost.Process starts the worker in its own process group. Boost.Asio reads its event pipe and its output with a
// deadline. This class does not interpret commands and events.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "harness/front/workers/worker_limits.hpp"
#include "harness/front/workers/worker_program.hpp"

namespace allocbench::front {

// The end of a wait for the next event line.
struct WorkerReply {
  enum class Kind { line, died, deadline, interrupted };
  Kind kind = Kind::line;
  std::string line;   // line of the worker, for Kind::line
  std::string death;  // cause, for Kind::died: "was killed by SIGSEGV (Segmentation fault)" or "ended with exit code 1"
};

// Describes a status of waitpid() in words, as in WorkerReply::death.
std::string describe_death(int wait_status);

class WorkerProcess {
 public:
  using Clock = std::chrono::steady_clock;

  // Starts `program --serve --events-fd FD arguments...`. Throws EnvironmentError if this is not possible.
  WorkerProcess(const WorkerProgram& program, const std::vector<std::string>& arguments);
  // Kills the process group and waits for the worker. A worker stuck in the driver is left alone.
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  // Makes a second Ctrl-C kill the worker's process group, too. Other workers end with this process.
  void take_along();

  // Writes one line to the worker. If the worker is dead, next_line() detects it.
  void send(const std::string& command);

  // Waits for a line on the event pipe. `idle` runs about ten times a second. After the user's Ctrl-C the deadline is
  // reduced to a short grace period. If no line comes in this period, the reply is `interrupted`.
  WorkerReply next_line(Clock::time_point deadline, const std::function<void()>& idle);

  // Waits up to quit_limit_seconds for a worker that was told to quit or announced its end, then kills it. If the
  // worker is not gone `reap_seconds` later, leaves it alone and throws EnvironmentError.
  void finish(double reap_seconds = reap_limit_seconds);
  void kill(double reap_seconds = reap_limit_seconds);
  // Sends SIGKILL without waiting, because the driver needs seconds to remove a process with a running kernel.
  // finish() waits.
  void begin_kill();

  // Returns the last lines that the worker printed on stdout and stderr.
  std::string output_tail() const;

 private:
  struct State;
  std::string reap(double limit_seconds);
  std::unique_ptr<State> state_;
};

}  // namespace allocbench::front
