#include "harness/front/run/worker_session.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "harness/front/common/errors.hpp"
#include "harness/front/run/supervisor_limits.hpp"
#include "harness/front/run/worker_answers.hpp"

namespace allocbench::front {
namespace {

using Json = nlohmann::ordered_json;

// Enough of a strange line to recognise it.
std::string excerpt(const std::string& line) { return line.size() <= 120 ? line : line.substr(0, 120) + "..."; }

std::string with_tail(const std::string& text, const std::string& tail) {
  return tail.empty() ? text : fmt::format("{} Its last output:\n{}", text, tail);
}

}  // namespace

WorkerSession::WorkerSession(WorkerSettings settings, DeviceListener on_device, std::function<void()> idle)
    : settings_(std::move(settings)), on_device_(std::move(on_device)), idle_(std::move(idle)) {}

WorkerReply WorkerSession::wait(double limit_seconds) {
  const auto limit =
      std::chrono::duration_cast<WorkerProcess::Clock::duration>(std::chrono::duration<double>(limit_seconds));
  return process_->next_line(
      WorkerProcess::Clock::now() + limit, [](void* self) { static_cast<WorkerSession*>(self)->idle_(); }, this);
}

Outcome WorkerSession::start(std::uint64_t device_heap_bytes) {
  std::vector<std::string> arguments = {"--device-heap-bytes", std::to_string(device_heap_bytes)};
  if (settings_.program.backend == "cuda") {
    arguments.insert(arguments.end(), {"--device", std::to_string(settings_.device)});
  } else if (settings_.os_threads) {
    arguments.insert(arguments.end(), {"--os-threads", std::to_string(*settings_.os_threads)});
  }
  open_cells_.clear();
  process_ = std::make_unique<WorkerProcess>(settings_.program, arguments);
  const WorkerReply reply = wait(start_limit_seconds);
  const std::string& path = settings_.program.path;
  if (reply.kind == WorkerReply::Kind::interrupted) {
    process_.reset();
    return {.kind = Outcome::Kind::interrupted};
  }
  std::string complaint;
  if (reply.kind == WorkerReply::Kind::died) complaint = fmt::format("{} {} before it was ready.", path, reply.death);
  if (reply.kind == WorkerReply::Kind::deadline) {
    complaint = fmt::format("{} was not ready after {} s.", path, start_limit_seconds);
  }
  if (reply.kind == WorkerReply::Kind::line) {
    const Json event = Json::parse(reply.line, nullptr, false);
    const bool sound = !event_kind(event).empty() && complaint_about(event).empty();
    if (sound && event_kind(event) == "ready" && event["protocol"] == protocol_version) {
      on_device_(event["device"].dump());
      return {.event = reply.line};
    }
    complaint = sound && event_kind(event) == "environment"
                    ? event["reason"].get<std::string>()
                    : fmt::format(
                          "{} began with \"{}\" instead of \"ready\" of protocol {}: build both programs from "
                          "one tree.",
                          path, excerpt(reply.line), protocol_version);
  }
  const std::string tail = process_->output_tail();
  process_.reset();
  throw EnvironmentError(with_tail(complaint, tail));
}

Outcome WorkerSession::load(const Batch& batch, std::uint64_t device_heap_bytes, double limit_seconds,
                            CellFacts& facts) {
  if (process_) return {};
  Outcome outcome = start(device_heap_bytes);
  if (outcome.kind != Outcome::Kind::done) return outcome;
  outcome = ask({{"command", "allocator"},
                 {"allocator", batch.allocator},
                 {"parameters", to_json(batch.allocator_parameters)},
                 {"pool_bytes", batch.pool_bytes}},
                "allocator_ready", "", limit_seconds);
  if (outcome.kind == Outcome::Kind::done) {
    const Json event = Json::parse(outcome.event);
    facts.pool_bytes = event.value("pool_bytes", batch.pool_bytes);
    facts.metadata_bytes = event.value("metadata_bytes", std::uint64_t{0});
    facts.init_seconds = event.value("init_seconds", 0.0);
    facts.device_heap_bytes = device_heap_bytes;
  } else if (outcome.kind == Outcome::Kind::failed && process_) {
    stop();  // without an allocator this worker is of no use
  }
  return outcome;
}

Outcome WorkerSession::open(const Cell& cell, double limit_seconds) {
  Outcome outcome = ask({{"command", "open"},
                         {"cell", cell.id},
                         {"workload", cell.workload},
                         {"parameters", to_json(cell.workload_parameters)},
                         {"seed", cell.seed},
                         {"state", cell.state},
                         {"warmups", cell.warmups},
                         {"counted_passes", cell.counted_passes}},
                        "opened", cell.id, limit_seconds);
  if (outcome.kind == Outcome::Kind::done) open_cells_.insert(cell.id);
  return outcome;
}

Outcome WorkerSession::verify(const Cell& cell, double limit_seconds) {
  return ask({{"command", "verify"}, {"cell", cell.id}}, "verified", cell.id, limit_seconds);
}

Outcome WorkerSession::sample(const Cell& cell, double limit_seconds) {
  return ask({{"command", "sample"}, {"cell", cell.id}}, "sample", cell.id, limit_seconds);
}

Outcome WorkerSession::close(const Cell& cell, double limit_seconds) {
  open_cells_.erase(cell.id);
  return ask({{"command", "close"}, {"cell", cell.id}}, "closed", cell.id, limit_seconds);
}

void WorkerSession::stop() {
  open_cells_.clear();
  if (!process_) return;
  process_->send(R"({"command":"quit"})");
  process_->finish();
  process_.reset();
}

Outcome WorkerSession::ask(const Json& command, const std::string& final_event, const std::string& cell_id,
                           double limit_seconds) {
  const auto start = WorkerProcess::Clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(WorkerProcess::Clock::now() - start).count(); };
  process_->send(command.dump());
  std::optional<Outcome> outcome;
  while (!outcome) {
    const WorkerReply reply = wait(limit_seconds - elapsed());
    switch (reply.kind) {
      case WorkerReply::Kind::line:
        outcome = judge(reply.line, final_event, cell_id);
        break;
      case WorkerReply::Kind::died:
        outcome = lose_worker(Status::crashed, fmt::format("the worker {}", reply.death));
        break;
      case WorkerReply::Kind::deadline:
        outcome = lose_worker(Status::timeout, no_answer_reason);
        break;
      case WorkerReply::Kind::interrupted:
        outcome = Outcome{.kind = Outcome::Kind::interrupted};
        process_.reset();
        open_cells_.clear();
        break;
    }
  }
  outcome->seconds = elapsed();
  return *outcome;
}

// nullopt: an event that is not the answer yet.
std::optional<Outcome> WorkerSession::judge(const std::string& line, const std::string& final_event,
                                            const std::string& cell_id) {
  const Json event = Json::parse(line, nullptr, false);
  const std::string kind = event_kind(event);
  if (!kind.empty() && !is_final_event(kind)) return std::nullopt;
  const auto unexpected = [&](const std::string& why) {
    return lose_worker(Status::crashed, fmt::format("the worker answered \"{}\" where \"{}\" was expected{}",
                                                    excerpt(line), final_event, why));
  };
  if (kind.empty()) return unexpected("");
  if (const std::string complaint = complaint_about(event); !complaint.empty()) return unexpected(": " + complaint);
  if (kind == "protocol_error") {
    return lose_worker(Status::crashed,
                       fmt::format("the worker refused a command: {}", event["reason"].get<std::string>()));
  }
  // An answer about another cell would put a number into the wrong place.
  if (!cell_id.empty() && event.value("cell", cell_id) != cell_id) return unexpected(": another cell");
  if (kind == final_event) return Outcome{.event = line};
  const auto status = kind == "failed" ? status_of(event["status"].get<std::string>()) : std::nullopt;
  if (!status || *status == Status::ok) return unexpected("");
  const std::string reason = event["reason"];
  if (event.value("fatal", false)) {
    process_->finish();
    return lose_worker(*status, reason);
  }
  return Outcome{.kind = Outcome::Kind::failed, .failure = {*status, reason, process_->output_tail()}};
}

Outcome WorkerSession::lose_worker(Status status, std::string reason) {
  process_->kill();
  Outcome outcome{.kind = Outcome::Kind::failed, .failure = {status, std::move(reason), process_->output_tail()}};
  process_.reset();
  open_cells_.clear();
  return outcome;
}

}  // namespace allocbench::front
