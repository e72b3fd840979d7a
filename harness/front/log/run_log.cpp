#include "harness/front/log/run_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "harness/front/log/host.hpp"
#include "harness/front/log/origin.hpp"
#include "protocol/description_json.hpp"
#include "protocol/event_json.hpp"
#include "protocol/parameter_json.hpp"

namespace allocbench::front {

using Json = nlohmann::ordered_json;

namespace {

// Returns the measured revision of each plug-in that the plan uses, by file name. It may differ from the worker's.
Json plugin_revisions(const Catalogue& catalogue, const Plan& plan) {
  Json revisions = Json::object();
  for (const protocol::PluginDescription& file : catalogue.plugins) {
    const bool used = std::any_of(plan.batches.begin(), plan.batches.end(),
                                  [&](const Batch& batch) { return batch.plugin == file.plugin; });
    if (used) revisions[std::filesystem::path(file.file).filename().string()] = file.measured_revision;
  }
  return revisions;
}

}  // namespace

bool was_left_out(const Json& end) {
  if (protocol::text_member(end, "status") != word(Status::skipped)) return false;
  if (const auto told = protocol::optional_truth(end, "left_out")) return *told;
  return protocol::text_member_or(end, "reason", "").starts_with(want_of_time);
}

CellEnd end_from_json(const Json& json) {
  const std::string text = protocol::text_member(json, "status");
  const auto status = status_of(text);
  if (!status) throw protocol::Malformed(fmt::format("\"{}\" is not a status word", text));
  return {.status = *status,
          .reason = protocol::text_member_or(json, "reason", ""),
          .output_tail = protocol::text_member_or(json, "output_tail", ""),
          .stop = protocol::text_member_or(json, "stop", ""),
          .left_out = was_left_out(json),
          .expected_seconds = protocol::optional_seconds(json, "expected_seconds"),
          .too_large = protocol::optional_truth(json, "too_large").value_or(false)};
}

Json to_json(const CellFacts& facts) {
  Json metrics = Json::object();
  for (const auto& [phase, registers] : facts.registers) metrics["registers"][phase] = registers;
  for (const auto& [phase, bytes] : facts.local_bytes) metrics["local_bytes"][phase] = bytes;
  if (facts.pool_bytes) metrics["pool_bytes"] = *facts.pool_bytes;
  if (facts.metadata_bytes) metrics["metadata_bytes"] = *facts.metadata_bytes;
  if (facts.init_seconds) metrics["init_seconds"] = *facts.init_seconds;
  if (facts.device_heap_bytes) metrics["device_heap_bytes"] = *facts.device_heap_bytes;
  return metrics;
}

void RunLog::run(const Config& config, const Catalogue& catalogue, const std::string& executor, const Plan& plan,
                 bool resumed, const std::optional<Shard>& shard) {
  Json metrics = Json::array();
  for (const protocol::MetricDescription& metric : catalogue.metrics) metrics.push_back(protocol::to_json(metric));
  Json planned = Json::array();
  for (const Batch& batch : plan.batches) {
    for (const Cell& cell : batch.cells) planned.push_back(cell.id);
  }
  Json program = {{"version", program_version()}};
  program.update(to_json(sources_with(catalogue)));
  Json event = {{"event", "run"},
                {"format", log_format},
                {"allocbench", program},
                {"worker",
                 {{"revision", catalogue.revision},
                  {"measured_revision", catalogue.measured_revision},
                  {"compiler", catalogue.compiler},
                  {"plugins", plugin_revisions(catalogue, plan)}}},
                {"config", *config.effective},
                {"config_path", config.path},
                {"backend", config.backend},
                {"host", describe_host()},
                {"seed", config.seed},
                {"metrics", metrics},
                {"planned", planned}};
  if (!executor.empty()) event["executor"] = executor;
  if (resumed) event["resumed"] = true;
  if (shard) event["shard"] = to_json(*shard);
  log_.append(event);
}

void RunLog::device(const protocol::Device& device) {
  // Members that may change with each start on the same device are not compared.
  protocol::Device lasting = device;
  lasting.free_memory_bytes.reset();
  lasting.sm_clock_mhz.reset();
  lasting.device_heap_bytes.reset();
  lasting.throttle_reasons.reset();
  lasting.other_processes.reset();
  if (last_device_ == lasting) return;
  last_device_ = lasting;
  log_.append({{"event", "device"}, {"device", protocol::to_json(device)}});
}

void RunLog::strays(const std::vector<std::string>& names) { log_.append({{"event", "strays"}, {"killed", names}}); }

void RunLog::cell(const Cell& cell) {
  Json event = {{"event", "cell"},
                {"id", cell.id},
                {"series", cell.series},
                {"label", cell.label},
                {"display_name", cell.display_name},
                {"form", cell.form},
                {"restrictions", cell.restrictions},
                {"rounds", cell.rounds}};
  event.update(cell_definition(cell));
  event["axes"] = protocol::to_json(cell.axes);
  log_.append(event);
}

void RunLog::start(const Cell& cell, std::uint64_t attempt) {
  log_.append({{"event", "start"}, {"cell", cell.id}, {"attempt", attempt}});
}

void RunLog::verified(const Cell& cell, std::uint64_t attempt, const CellFacts& facts) {
  log_.append({{"event", "verified"},
               {"cell", cell.id},
               {"attempt", attempt},
               {"metrics", to_json(facts)},
               {"checks", facts.checks ? protocol::to_json(*facts.checks) : Json::object()},
               {"counted", facts.counted ? protocol::to_json(*facts.counted) : Json::object()}});
}

void RunLog::sample(const Cell& cell, std::uint64_t attempt, std::uint64_t round, std::uint64_t index,
                    const protocol::Sample& sample) {
  Json event = {{"event", "sample"}, {"cell", cell.id}, {"attempt", attempt}, {"round", round}, {"index", index}};
  event.update(protocol::to_json(protocol::Event(sample)));
  log_.append(event);
}

void RunLog::round(const Cell& cell, std::uint64_t attempt, std::uint64_t round, std::uint64_t samples, double seconds,
                   double fill_seconds) {
  Json event = {{"event", "round"}, {"cell", cell.id},    {"attempt", attempt},
                {"round", round},   {"samples", samples}, {"seconds", seconds}};
  if (fill_seconds > 0) event["fill_seconds"] = fill_seconds;
  log_.append(event);
}

void RunLog::deferred(const Cell& cell, std::uint64_t attempt, const std::string& reason, double fill_seconds,
                      bool tried) {
  Json event = {{"event", "deferred"}, {"cell", cell.id}, {"attempt", attempt}, {"reason", reason}};
  if (fill_seconds > 0) event["fill_seconds"] = fill_seconds;
  if (!tried) event["tried"] = false;
  log_.append(event);
}

void RunLog::end(const Cell& cell, std::uint64_t attempt, const CellEnd& end) {
  Json event = {{"event", "end"},       {"cell", cell.id},
                {"attempt", attempt},   {"status", word(end.status)},
                {"reason", end.reason}, {"output_tail", end.output_tail}};
  if (!end.stop.empty()) event["stop"] = end.stop;
  if (end.status == Status::skipped) event["left_out"] = end.left_out;
  if (end.too_large) event["too_large"] = true;
  if (end.expected_seconds) event["expected_seconds"] = *end.expected_seconds;
  log_.append(event);
  log_.sync();
}

}  // namespace allocbench::front
