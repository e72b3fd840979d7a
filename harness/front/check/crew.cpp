#include "harness/front/check/crew.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/front/common/build_hints.hpp"
#include "harness/front/common/errors.hpp"
#include "harness/front/common/interrupt.hpp"
#include "harness/front/common/time_limit.hpp"
#include "harness/front/workers/strays.hpp"
#include "protocol/checker_json.hpp"
#include "protocol/version.hpp"

namespace allocbench::front {
namespace {

using Clock = WorkerProcess::Clock;

constexpr auto crew_poll_interval = std::chrono::milliseconds(5);
constexpr double ready_limit_seconds = 20;

protocol::CheckerEvent event_in(const std::string& program, const std::string& line) {
  try {
    return protocol::checker_event_from_json(protocol::parse_object(line, "an event"));
  } catch (const protocol::Malformed& error) {
    throw EnvironmentError(fmt::format("{} sent an invalid answer: {}.", program, error.what()));
  }
}

}  // namespace

CheckCrew::CheckCrew(std::size_t size, std::function<void()> idle) : members_(size), idle_(std::move(idle)) {}

CheckCrew::~CheckCrew() {
  for (Member& member : members_) member.process.reset();
  kill_strays();
}

bool CheckCrew::run(const std::function<void(const CheckTask&, const CheckAnswer&)>& done) {
  for (bool busy = true; busy;) {
    if (interrupted()) return false;
    busy = false;
    for (Member& member : members_) {
      if (!member.busy) {
        std::optional<CheckTask> task = next_task();
        if (!task) continue;
        give(member, std::move(*task));
      }
      busy = true;
      CheckAnswer answer;
      if (!member.busy || !poll(member, answer)) continue;
      member.busy = false;
      done(member.task, answer);
    }
  }
  return true;
}

std::optional<CheckTask> CheckCrew::next_task() {
  if (tasks_.empty()) return source_ ? source_() : std::nullopt;
  CheckTask task = std::move(tasks_.front());
  tasks_.pop_front();
  return task;
}

void CheckCrew::give(Member& member, CheckTask task) {
  member.task = std::move(task);
  if (member.process != nullptr && member.program != member.task.program.path) {
    member.process->finish();
    member.process.reset();
  }
  if (member.process == nullptr && !start(member)) return;
  member.process->send(protocol::to_json(member.task.command).dump());
  member.deadline = Clock::now() + duration_of(member.task.limit_seconds);
  member.busy = true;
}

bool CheckCrew::start(Member& member) {
  member.process = std::make_unique<WorkerProcess>(member.task.program, std::vector<std::string>{});
  member.program = member.task.program.path;
  const WorkerReply reply = member.process->next_line(Clock::now() + duration_of(ready_limit_seconds), idle_);
  if (reply.kind == WorkerReply::Kind::interrupted) return false;
  if (reply.kind == WorkerReply::Kind::line) {
    const protocol::CheckerEvent event = event_in(member.program, reply.line);
    const auto* ready = std::get_if<protocol::CheckerReady>(&event);
    if (ready != nullptr && ready->protocol == protocol::version) return true;
    throw EnvironmentError(fmt::format("{} does not speak protocol {}: build both programs from one tree with {}.",
                                       member.program, protocol::version, how_to_build_programs));
  }
  throw EnvironmentError(fmt::format("{} did not start: it {}. Its output:\n{}", member.program,
                                     reply.kind == WorkerReply::Kind::died ? reply.death : "gave no answer",
                                     member.process->output_tail()));
}

bool CheckCrew::poll(Member& member, CheckAnswer& answer) {
  const auto now = Clock::now();
  const WorkerReply reply = member.process->next_line(std::min(member.deadline, now + crew_poll_interval), idle_);
  switch (reply.kind) {
    case WorkerReply::Kind::interrupted:
      return false;
    case WorkerReply::Kind::line:
      answer.event = event_in(member.program, reply.line);
      if (const auto* error = std::get_if<protocol::ProtocolError>(&answer.event)) {
        throw EnvironmentError(fmt::format("{} refused a command: {}", member.program, error->reason));
      }
      if (const auto* refused = std::get_if<protocol::Refused>(&answer.event)) throw UsageError(refused->reason);
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
