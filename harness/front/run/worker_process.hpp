// One worker process: its life, its pipes and its death.
//
// Boost.Process starts it in a process group of its own; Boost.Asio reads its event pipe and its output while a
// deadline runs. Nothing here knows what commands and events mean.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "harness/front/run/supervisor_limits.hpp"
#include "harness/front/run/worker_program.hpp"

namespace allocbench::front {

// How a wait for the next event line ended.
struct WorkerReply {
  enum class Kind { line, died, deadline, interrupted };
  Kind kind = Kind::line;
  std::string line;   // Kind::line
  std::string death;  // Kind::died: "was killed by SIGSEGV (Segmentation fault)", "ended with exit code 1"
};

// Words for a status of waitpid(), as in WorkerReply::death.
std::string describe_death(int wait_status);

class WorkerProcess {
 public:
  using Clock = std::chrono::steady_clock;

  // Starts `program --serve --events-fd FD arguments...`. Throws EnvironmentError when that is not possible.
  WorkerProcess(const WorkerProgram& program, const std::vector<std::string>& arguments);
  // Kills the process group and waits for the worker: it neither survives nor stays as a zombie.
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  // From now on a second Ctrl-C takes its process group along. Other workers die with us.
  void take_along();

  // Writes one line to the worker. A dead worker is noticed by next_line().
  void send(const std::string& command);

  // Waits for a line on the event pipe. `idle` runs about ten times a second. After the user's Ctrl-C the deadline
  // shrinks to a short grace, and the reply is `interrupted`.
  WorkerReply next_line(Clock::time_point deadline, void (*idle)(void*), void* idle_argument);

  // Waits a short while for a worker that was told to quit or announced its end, then kills it.
  // Throws EnvironmentError where it is not gone after so many seconds more: then it is left alone.
  void finish(double reap_seconds = reap_limit_seconds);
  void kill(double reap_seconds = reap_limit_seconds);
  // Sends the signal and does not wait: the driver takes seconds to remove a process with a running kernel. finish()
  // waits.
  void begin_kill();

  // The last lines that the worker printed on stdout and stderr.
  std::string output_tail() const;

 private:
  struct State;
  std::string reap(double limit_seconds);
  std::unique_ptr<State> state_;
};

}  // namespace allocbench::front
