#include "harness/front/log/run_log.hpp"

#include <nlohmann/json.hpp>

#include "harness/front/log/host.hpp"

namespace allocbench::front {

using Json = nlohmann::ordered_json;

void RunLog::run(const Config& config, const Catalogue& catalogue, bool resumed) {
  Json metrics = Json::array();
  for (const MetricEntry& metric : catalogue.metrics) metrics.push_back(to_json(metric));
  Json event = {{"event", "run"},
                {"format", 1},
                {"allocbench", {{"version", program_version()}, {"revision", program_revision()}}},
                {"worker", {{"revision", catalogue.revision}, {"compiler", catalogue.compiler}}},
                {"config", Json::parse(config.effective_text)},
                {"config_path", config.path},
                {"backend", config.backend},
                {"shard", nullptr},
                {"host", describe_host()},
                {"seed", config.seed},
                {"metrics", metrics}};
  if (resumed) event["resumed"] = true;
  log_.append(event);
}

void RunLog::device(const std::string& device_text) {
  Json device = Json::parse(device_text);
  // What changes from start to start on one and the same device.
  Json lasting = device;
  for (const char* key : {"free_memory_bytes", "sm_clock_mhz", "device_heap_bytes"}) lasting.erase(key);
  if (lasting.dump() == last_device_) return;
  last_device_ = lasting.dump();
  log_.append({{"event", "device"}, {"device", device}});
}

void RunLog::cell(const Cell& cell) {
  Json event = {{"event", "cell"}, {"id", cell.id}, {"series", cell.series}, {"label", cell.label}};
  event.update(cell_definition(cell));
  event["axes"] = to_json(cell.axes);
  log_.append(event);
}

void RunLog::start(const Cell& cell, std::uint64_t attempt) {
  log_.append({{"event", "start"}, {"cell", cell.id}, {"attempt", attempt}});
}

void RunLog::sample(const Cell& cell, std::uint64_t attempt, std::uint64_t index, const std::string& answer) {
  Json event = {{"event", "sample"}, {"cell", cell.id}, {"attempt", attempt}, {"index", index}};
  const Json told = Json::parse(answer);
  for (const auto& [key, value] : told.items()) {
    if (!event.contains(key)) event[key] = value;
  }
  log_.append(event);
}

void RunLog::end(const Cell& cell, std::uint64_t attempt, const CellEnd& end, const CellFacts& facts) {
  Json metrics = Json::object();
  for (const auto& [phase, registers] : facts.registers) metrics["registers"][phase] = registers;
  if (facts.pool_bytes) metrics["pool_bytes"] = *facts.pool_bytes;
  if (facts.metadata_bytes) metrics["metadata_bytes"] = *facts.metadata_bytes;
  if (facts.init_seconds) metrics["init_seconds"] = *facts.init_seconds;
  if (facts.device_heap_bytes) metrics["device_heap_bytes"] = *facts.device_heap_bytes;
  log_.append({{"event", "end"},
               {"cell", cell.id},
               {"attempt", attempt},
               {"status", word(end.status)},
               {"reason", end.reason},
               {"metrics", metrics},
               {"checks", facts.checks.empty() ? Json::object() : Json::parse(facts.checks)},
               {"counted", facts.counted.empty() ? Json::object() : Json::parse(facts.counted)},
               {"output_tail", end.output_tail}});
  log_.sync();
}

}  // namespace allocbench::front
