// CheckCrew runs several worker processes of `allocbench check` at once. Each worker gets one command at a time.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/front/workers/worker_process.hpp"
#include "harness/front/workers/worker_program.hpp"
#include "protocol/checker_command.hpp"
#include "protocol/checker_event.hpp"

namespace allocbench::front {

// A command for a worker of `program`, with a time limit for the answer.
struct CheckTask {
  WorkerProgram program;
  protocol::CheckerCommand command;
  double limit_seconds = 60;
  std::size_t cell = 0;  // number for the caller, such as the index of a cell
};

// The outcome of a task. If the worker died or did not answer, a new worker gets the next task.
struct CheckAnswer {
  enum class Kind { answered, died, late };
  Kind kind = Kind::answered;
  protocol::CheckerEvent event;  // worker's answer, if `kind` is `answered`
  std::string death;             // cause, if `kind` is `died`: "was killed by SIGSEGV (Segmentation fault)"

  // Returns why there is no event. `kind` must be `died` or `late`.
  std::string loss() const { return kind == Kind::died ? "the worker " + death : "the run did not end"; }
};

class CheckCrew {
 public:
  // run() starts up to `size` workers, and calls `idle` many times a second while it waits for them.
  CheckCrew(std::size_t size, std::function<void()> idle);
  ~CheckCrew();
  CheckCrew(const CheckCrew&) = delete;
  CheckCrew& operator=(const CheckCrew&) = delete;

  void add(CheckTask task) { tasks_.push_back(std::move(task)); }
  // Adds the task at the front of the queue.
  void add_next(CheckTask task) { tasks_.push_front(std::move(task)); }
  // Sets the source of further tasks. The source is called when all added tasks are assigned, and returns nothing if
  // there are no more tasks. So tasks for many seeds need little memory.
  void take_from(std::function<std::optional<CheckTask>()> source) { source_ = std::move(source); }
  // Runs until no task is left. `done` may add tasks. Returns false if the user interrupted. Throws EnvironmentError if
  // a worker does not start or violates the protocol, and UsageError if it refuses a strategy or a schedule.
  bool run(const std::function<void(const CheckTask&, const CheckAnswer&)>& done);

 private:
  struct Member {
    std::unique_ptr<WorkerProcess> process;
    std::string program;  // path of the worker
    CheckTask task;
    WorkerProcess::Clock::time_point deadline;
    bool busy = false;
  };
  std::optional<CheckTask> next_task();
  void give(Member& member, CheckTask task);
  // Returns false if the user interrupted.
  bool start(Member& member);
  // Returns whether the member's task has ended.
  bool poll(Member& member, CheckAnswer& answer);

  std::vector<Member> members_;
  std::deque<CheckTask> tasks_;
  std::function<std::optional<CheckTask>()> source_;
  std::function<void()> idle_;
};

}  // namespace allocbench::front
