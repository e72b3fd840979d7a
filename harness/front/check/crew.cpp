#include "harness/front/check/crew.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/front/common/errors.hpp"
#include "harness/front/run/interrupt.hpp"
#include "harness/front/run/strays.hpp"

namespace allocbench::front {
namespace {

using Clock = WorkerProcess::Clock;

constexpr auto poll_interval = std::chrono::milliseconds(5);
constexpr double start_limit_seconds = 20;

Clock::duration seconds(double count) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(count));
}

void run_idle(void* function) { (*static_cast<std::function<void()>*>(function))(); }

}  // namespace

CheckCrew::CheckCrew(std::size_t size, std::function<void()> idle) : members_(size), idle_(std::move(idle)) {}

CheckCrew::~CheckCrew() {
  for (Member& member : members_) member.process.reset();
  kill_strays();
}

bool CheckCrew::run(const std::function<void(const CheckTask&, const CheckAnswer&)>& done) {
  const auto busy = [&] {
    return std::any_of(members_.begin(), members_.end(), [](const Member& member) { return member.busy; });
  };
  while (!tasks_.empty() || busy()) {
    if (interrupted()) return false;
    for (Member& member : members_) {
      if (!member.busy && !tasks_.empty()) give(member);
      if (!member.busy) continue;
      CheckAnswer answer;
      if (!poll(member, answer)) continue;
      member.busy = false;
      done(member.task, answer);
    }
  }
  return true;
}

void CheckCrew::give(Member& member) {
  member.task = std::move(tasks_.front());
  tasks_.pop_front();
  if (member.process != nullptr && member.program != member.task.program.path) {
    member.process->finish();
    member.process.reset();
  }
  if (member.process == nullptr) {
    member.process = std::make_unique<WorkerProcess>(member.task.program, std::vector<std::string>{});
    member.program = member.task.program.path;
    const WorkerReply ready = member.process->next_line(Clock::now() + seconds(start_limit_seconds), run_idle, &idle_);
    if (ready.kind == WorkerReply::Kind::interrupted) return;
    if (ready.kind != WorkerReply::Kind::line || ready.line.find("\"ready\"") == std::string::npos) {
      throw EnvironmentError(fmt::format("{} does not start: it {}. It printed:\n{}", member.program,
                                         ready.kind == WorkerReply::Kind::died ? ready.death : "gave no answer",
                                         member.process->output_tail()));
    }
  }
  member.process->send(member.task.command.dump());
  member.deadline = Clock::now() + seconds(member.task.limit_seconds);
  member.busy = true;
}

bool CheckCrew::poll(Member& member, CheckAnswer& answer) {
  const auto now = Clock::now();
  const WorkerReply reply = member.process->next_line(std::min(member.deadline, now + poll_interval), run_idle, &idle_);
  switch (reply.kind) {
    case WorkerReply::Kind::interrupted:
      return false;
    case WorkerReply::Kind::line:
      answer.event = nlohmann::ordered_json::parse(reply.line, nullptr, false);
      if (answer.event.is_discarded() || answer.event.value("event", "") == "protocol_error") {
        throw EnvironmentError(
            fmt::format("{} could not do what it was asked: {}", member.program,
                        answer.event.is_object() ? answer.event.value("reason", reply.line) : reply.line));
      }
      if (answer.event.value("event", "") == "refused") throw UsageError(answer.event.value("reason", ""));
      return true;
    case WorkerReply::Kind::died:
      answer.kind = CheckAnswer::Kind::died;
      answer.death = reply.death;
      break;
    case WorkerReply::Kind::deadline:
      if (Clock::now() < member.deadline) return false;
      answer.kind = CheckAnswer::Kind::late;
      break;
  }
  member.process.reset();
  return true;
}

}  // namespace allocbench::front
