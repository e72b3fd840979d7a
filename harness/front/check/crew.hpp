// Several checking workers at once, each answering one question at a time.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/front/run/worker_process.hpp"
#include "harness/front/run/worker_program.hpp"
#include "protocol/checker_command.hpp"
#include "protocol/checker_event.hpp"

namespace allocbench::front {

// A command for a worker of `program`, to be answered within the limit.
struct CheckTask {
  WorkerProgram program;
  protocol::CheckerCommand command;
  double limit_seconds = 60;
  std::size_t cell = 0;  // for the caller
};

// What became of a task. A worker that dies or does not answer is replaced by the next task.
struct CheckAnswer {
  enum class Kind { answered, died, late };
  Kind kind = Kind::answered;
  protocol::CheckerEvent event;  // answered
  std::string death;             // died: "was killed by SIGSEGV (Segmentation fault)"

  // Why there is no event. For `died` and `late` only.
  std::string loss() const { return kind == Kind::died ? "the worker " + death : "the run did not end"; }
};

class CheckCrew {
 public:
  // Up to `size` workers; `idle` runs about ten times a second.
  CheckCrew(std::size_t size, std::function<void()> idle);
  ~CheckCrew();
  CheckCrew(const CheckCrew&) = delete;
  CheckCrew& operator=(const CheckCrew&) = delete;

  void add(CheckTask task) { tasks_.push_back(std::move(task)); }
  // In front of all others.
  void add_next(CheckTask task) { tasks_.push_front(std::move(task)); }
  // Gives the next task once those added are handed out; nothing when there are no more. Many seeds so need little
  // memory.
  void take_from(std::function<std::optional<CheckTask>()> source) { source_ = std::move(source); }
  // Until no task is left; `done` may add some. False when the user interrupted. Throws EnvironmentError for a worker
  // that does not speak the protocol, UsageError for what it refuses.
  bool run(const std::function<void(const CheckTask&, const CheckAnswer&)>& done);

 private:
  struct Member {
    std::unique_ptr<WorkerProcess> process;
    std::string program;  // path
    CheckTask task;
    WorkerProcess::Clock::time_point deadline;
    bool busy = false;
  };
  std::optional<CheckTask> next_task();
  void give(Member& member, CheckTask task);
  // False when the user interrupted.
  bool start(Member& member);
  // True when the member's task has ended.
  bool poll(Member& member, CheckAnswer& answer);

  std::vector<Member> members_;
  std::deque<CheckTask> tasks_;
  std::function<std::optional<CheckTask>()> source_;
  std::function<void()> idle_;
};

}  // namespace allocbench::front
