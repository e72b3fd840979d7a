#include "harness/front/workers/succession.hpp"

#include <algorithm>
#include <utility>

#include "harness/front/common/time_limit.hpp"
#include "harness/front/workers/worker_answer.hpp"

namespace allocbench::front {
namespace {

std::vector<std::string> waiting(std::vector<std::string> arguments) {
  arguments.emplace_back("--wait");
  return arguments;
}

}  // namespace

std::unique_ptr<WorkerProcess> Succession::begin(const std::vector<std::string>& arguments) {
  const bool is_prepared = prepared_ != nullptr && prepared_with_ == arguments;
  waited_ = is_prepared || leaving_ != nullptr;
  std::unique_ptr<WorkerProcess> process =
      is_prepared ? std::move(prepared_)
                  : std::make_unique<WorkerProcess>(program_, waited_ ? waiting(arguments) : arguments);
  process->take_along();
  lines_awaited_ = waited_ ? 2 : 0;
  began_early_ = leaving_ != nullptr && leaving_quits_ && may_be_early_;
  if (began_early_) {
    process->send("");
    --lines_awaited_;
  }
  prepare();
  return process;
}

void Succession::hand_over(WorkerProcess& process) {
  for (; lines_awaited_ > 0; --lines_awaited_) process.send("");
}

void Succession::prepare() {
  if (expected_.empty() || (prepared_ && prepared_with_ == expected_)) return;
  prepared_.reset();
  prepared_ = std::make_unique<WorkerProcess>(program_, waiting(expected_));
  prepared_with_ = expected_;
  loads_ = true;
}

void Succession::leave(std::unique_ptr<WorkerProcess> process, bool quits) {
  leaving_ = std::move(process);
  leaving_quits_ = quits;
}

void Succession::see_off(double reap_seconds) {
  const std::unique_ptr<WorkerProcess> process = std::move(leaving_);
  if (process) process->finish(reap_seconds);
}

void Succession::settle(const std::function<void()>& idle, double most_seconds) {
  if (!prepared_ || !loads_) return;
  const auto limit = WorkerProcess::Clock::now() + duration_of(std::min(load_seconds_, most_seconds));
  const WorkerReply reply = prepared_->next_line(limit, idle);
  loads_ = false;
  if (reply.kind != WorkerReply::Kind::line || !says_loaded(reply.line)) drop();
}

}  // namespace allocbench::front
