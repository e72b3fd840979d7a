// This file writes results.json in Google Benchmark's format, so that Google Benchmark's compare.py can read the file.
// Everything else is under "allocbench".
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "harness/front/log/event_log.hpp"
#include "harness/front/results/results.hpp"
#include "harness/front/statistics/statistics.hpp"
#include "protocol/event_json.hpp"
#include "protocol/parameter_json.hpp"

namespace allocbench::front {
namespace {

using Json = nlohmann::ordered_json;

// compare.py prints times without decimals. So times are in nanoseconds, which keeps their digits.
constexpr double time_unit_per_second = 1e9;
constexpr const char* time_unit = "ns";

Json object_in(const Json& json, const char* key) {
  return json.contains(key) && json[key].is_object() ? json[key] : Json::object();
}

Json or_else(const Json& object, const char* key, Json otherwise) {
  return object.contains(key) ? object[key] : std::move(otherwise);
}

Json context(const RunHistory& history, const Json& run) {
  const Json host = object_in(run, "host");
  const Json program = object_in(run, "allocbench");
  return {{"date", history.started},
          {"host_name", or_else(host, "host_name", "")},
          {"executable", "allocbench"},
          {"num_cpus", or_else(host, "num_cpus", 0)},
          {"mhz_per_cpu", or_else(host, "mhz_per_cpu", 0)},
          {"caches", Json::array()},
          {"load_avg", or_else(host, "load_avg", Json::array())},
          {"library_build_type", "release"},
          {"allocbench_version", or_else(program, "version", "")},
          {"allocbench_revision", or_else(program, "revision", "")},
          {"backend", history.backend},
          {"figure", history.figure}};
}

// Rows have a wall-clock and a CPU time, because compare.py requires both. Both are the measured time of the phase.
void add_times(Json& row, double seconds, double operations) {
  row["real_time"] = seconds * time_unit_per_second;
  row["cpu_time"] = seconds * time_unit_per_second;
  row["time_unit"] = time_unit;
  if (operations > 0 && seconds > 0) row["items_per_second"] = operations / seconds;
}

void add_rows(Json& rows, const Results& results, const CellHistory& cell, const PhaseResult& phase,
              std::size_t family) {
  const std::string name = cell_name(results.figure, cell) + "/" + phase.name;
  const std::vector<double> seconds = phase.seconds();
  const auto row = [&](const std::string& suffix, const char* run_type) {
    return Json{{"name", name + suffix}, {"family_index", family}, {"per_family_instance_index", 0},
                {"run_name", name},      {"run_type", run_type},   {"repetitions", seconds.size()},
                {"threads", 1}};
  };
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    Json sample = row("", "iteration");
    sample["repetition_index"] = i;
    sample["iterations"] = 1;
    add_times(sample, seconds[i], phase.operations);
    rows.push_back(std::move(sample));
  }
  const auto aggregate = [&](const char* kind, double value, double operations) {
    Json summary = row(std::string("_") + kind, "aggregate");
    summary["aggregate_name"] = kind;
    summary["aggregate_unit"] = "time";
    summary["iterations"] = seconds.size();
    add_times(summary, value, operations);
    rows.push_back(std::move(summary));
  };
  aggregate("mean", mean(seconds), phase.operations);
  aggregate("median", median(seconds), phase.operations);
  aggregate("stddev", standard_deviation(seconds), 0);  // the rate of a deviation has no meaning
}

Json few_rounds_json(const FewRounds& few) {
  return {{"values", few.values},
          {"least_spread", few.least_spread},
          {"low", few.interval ? Json(few.interval->low) : Json()},
          {"high", few.interval ? Json(few.interval->high) : Json()}};
}

Json phase_json(const Results& results, const PhaseResult& phase) {
  Json counts = Json::array();
  for (const std::vector<double>& samples : phase.rounds) counts.push_back(samples.size());
  Json json = {{"name", phase.name}, {"samples", phase.seconds()}, {"rounds", std::move(counts)}};
  json[std::string(name_of(results.statistic))] = phase.time.centre;
  if (results.statistic != Statistic::median) json["median"] = median(phase.seconds());
  json["low"] = phase.time.interval ? Json(phase.time.interval->low) : Json();
  json["high"] = phase.time.interval ? Json(phase.time.interval->high) : Json();
  json["confidence"] = phase.time.interval ? Json(confidence) : Json();
  if (!phase.time.interval) json["no_interval"] = phase.time.why_no_interval;
  if (phase.few_rounds) json["few_rounds"] = few_rounds_json(*phase.few_rounds);
  json["operations"] = phase.operations;
  const auto throughput = phase.throughput();
  json["throughput"] = throughput ? Json(*throughput) : Json();
  json["throttled"] = phase.throttled;
  if (!phase.not_held.empty()) json["not_held"] = phase.not_held;
  return json;
}

Json provenance_json(const Provenance& provenance) {
  Json json = {{"measured_revisions", provenance.revisions},
               {"commits", provenance.commits},
               {"cards", provenance.cards},
               {"drivers", provenance.drivers},
               {"dirty", provenance.dirty},
               {"mixed", provenance.mixed()}};
  const bool are_usual = std::ranges::all_of(provenance.executors, &std::string::empty);
  if (!are_usual) json["executors"] = provenance.executors;
  return json;
}

Json cell_json(const Results& results, const CellResult& result) {
  const CellHistory& cell = result.cell;
  Json json = {{"id", cell.id},
               {"series", cell.series},
               {"label", cell.label},
               {"allocator", cell.allocator},
               {"display_name", cell.display_name},
               {"form", cell.form},
               {"allocator_parameters", protocol::to_json(cell.allocator_parameters)},
               {"workload", cell.workload},
               {"workload_parameters", protocol::to_json(cell.workload_parameters)},
               {"axes", protocol::to_json(cell.axes)},
               {"pool_bytes", cell.pool_bytes},
               {"backend", cell.backend},
               {"device", cell.origin.device},
               {"device_uuid", cell.origin.device_uuid},
               {"driver_version", cell.origin.driver_version},
               {"sm_clock_max_mhz", cell.origin.sm_clock_max_mhz ? Json(*cell.origin.sm_clock_max_mhz) : Json()},
               {"revision", cell.origin.sources.revision},
               {"measured_revision", cell.origin.sources.measured_revision},
               {"dirty", cell.origin.sources.dirty ? Json(*cell.origin.sources.dirty) : Json()},
               {"seed", cell.seed},
               {"state", cell.state},
               {"attempt", cell.ended_attempt},
               {"status", word(result.status())},
               {"reason", cell.end->reason}};
  if (!cell.origin.executor.empty()) json["executor"] = cell.origin.executor;
  if (!cell.restrictions.empty()) json["restrictions"] = cell.restrictions;
  if (cell.aged_rounds) json["aged_rounds"] = *cell.aged_rounds;
  if (cell.l2 != "warm") json["l2"] = cell.l2;
  if (result.status() == Status::skipped) json["left_out"] = cell.end->left_out;
  if (cell.end->expected_seconds) json["expected_seconds"] = *cell.end->expected_seconds;
  if (result.status() != Status::ok) {
    json["output_tail"] = cell.end->output_tail;
    return json;
  }
  json["stop"] = cell.end->stop;
  if (result.provisional) json["provisional"] = true;
  json["phases"] = Json::array();
  for (const PhaseResult& phase : result.phases) json["phases"].push_back(phase_json(results, phase));
  json["counters"] = Json::object();
  json["counter_intervals"] = Json::object();
  for (const auto& [name, value] : result.counters) {
    json["counters"][name] = value.centre;
    if (value.interval) json["counter_intervals"][name] = {value.interval->low, value.interval->high};
  }
  const CellFacts& facts = cell.facts;
  json["metrics"] = to_json(facts);
  json["checks"] = facts.checks ? protocol::to_json(*facts.checks) : Json::object();
  const bool counted = facts.counted && facts.counted->has_counts();
  json["counted"] = counted ? protocol::to_json(*facts.counted) : Json::object();
  return json;
}

}  // namespace

std::string results_json(const Results& results) {
  Json run = *results.history.run;
  run.erase("planned");  // a list of thousands of ids; "unfinished" has the number of missing cells
  Json rows = Json::array();
  Json cells = Json::array();
  std::size_t family = 0;
  for (const CellResult& result : results.cells) {
    for (const PhaseResult& phase : result.phases) add_rows(rows, results, result.cell, phase, family++);
    cells.push_back(cell_json(results, result));
  }
  const auto& device = results.history.device;
  const Json document = {{"context", context(results.history, run)},
                         {"benchmarks", rows},
                         {"allocbench",
                          {{"format", log_format},
                           {"run", run},
                           {"device", device ? protocol::to_json(*device) : Json()},
                           {"provenance", provenance_json(results.provenance)},
                           {"unfinished", results.unfinished},
                           {"cells", cells}}}};
  return document.dump(1) + "\n";
}

}  // namespace allocbench::front
