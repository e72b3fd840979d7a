// results.csv: tidy, one row per (cell, phase, metric). The columns are a contract; harness/README.md lists them.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "harness/front/results/results.hpp"
#include "harness/protocol/parameter_json.hpp"

namespace allocbench::front {
namespace {

constexpr std::string_view header =
    "figure,cell,series,allocator,allocator_parameters,workload,workload_parameters,axes,pool_bytes,backend,device,"
    "seed,"
    "state,status,reason,phase,metric,unit,statistic,value,low,high,samples,flags\n";

// RFC 4180: quotes around fields that need them, doubled inside.
std::string field(std::string_view text) {
  if (text.find_first_of(",\"\n\r") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char letter : text) {
    if (letter == '"') quoted += '"';
    quoted += letter;
  }
  return quoted + '"';
}

struct Row {
  std::string_view phase;
  std::string_view metric;
  std::string_view unit;
  std::string_view statistic;
  double value = 0;
  std::optional<Interval> interval = {};
  std::size_t samples = 1;
  bool throttled = false;
};

class CsvWriter {
 public:
  CsvWriter(const Results& results, const CellResult& result) : results_(results), result_(result) {
    const CellHistory& cell = result.cell;
    prefix_ =
        fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}", field(results.figure), cell.id, field(cell.series),
                    cell.allocator, field(protocol::to_json(cell.allocator_parameters).dump()), cell.workload,
                    field(protocol::to_json(cell.workload_parameters).dump()),
                    field(protocol::to_json(cell.axes).dump()), cell.pool_bytes, cell.backend, field(cell.device),
                    cell.seed, cell.state, word(result.status()), field(cell.end->short_reason()));
  }

  std::string text() {
    if (result_.status() != Status::ok) return prefix_ + ",,,,,,,,,\n";
    for (const PhaseResult& phase : result_.phases) add_phase(phase);
    for (const CounterResult& counter : result_.counters) {
      add({.phase = "",
           .metric = counter.name,
           .unit = unit(counter.name, ""),
           .statistic = "median",
           .value = counter.value.centre,
           .interval = counter.value.interval,
           .samples = result_.cell.samples.size()});
    }
    for (const CountedResult& counted : result_.counted) {
      add({"", counted.metric, unit(counted.metric, ""), "mean", counted.mean, {}, counted.passes});
    }
    const CellFacts& facts = result_.cell.facts;
    for (const auto& [phase, registers] : facts.registers) {
      add({.phase = phase,
           .metric = "registers",
           .unit = unit("registers", ""),
           .statistic = "value",
           .value = static_cast<double>(registers)});
    }
    if (facts.metadata_bytes) {
      add({.phase = "",
           .metric = "metadata_bytes",
           .unit = "B",
           .statistic = "value",
           .value = static_cast<double>(*facts.metadata_bytes)});
    }
    if (facts.init_seconds) {
      add({.phase = "", .metric = "init_time", .unit = "s", .statistic = "value", .value = *facts.init_seconds});
    }
    return std::move(text_);
  }

 private:
  void add_phase(const PhaseResult& phase) {
    const std::size_t count = phase.seconds().size();
    const std::string_view statistic = name_of(results_.statistic);
    const auto& bounds = phase.time.interval;
    const bool throttled = !phase.throttled.empty();
    add({phase.name, "time", "s", statistic, phase.time.centre, bounds, count, throttled});
    const auto throughput = phase.throughput();
    if (!throughput) return;
    std::optional<Interval> interval;
    if (bounds && bounds->low > 0) interval = Interval{phase.operations / bounds->high, phase.operations / bounds->low};
    add({phase.name, "throughput", "op/s", statistic, *throughput, interval, count, throttled});
    add({phase.name, "operations", unit("operations", ""), "median", phase.operations, {}, count, false});
  }

  std::string_view unit(const std::string& metric, std::string_view otherwise) const {
    const auto found = results_.history.units.find(metric);
    return found == results_.history.units.end() ? otherwise : found->second;
  }

  void add(const Row& row) {
    text_ += fmt::format("{},{},{},{},{},{},", prefix_, row.phase, field(row.metric), field(row.unit), row.statistic,
                         row.value);
    text_ += row.interval ? fmt::format("{},{}", row.interval->low, row.interval->high) : ",";
    text_ += fmt::format(",{},{}\n", row.samples, row.throttled ? "throttled" : "");
  }

  const Results& results_;
  const CellResult& result_;
  std::string prefix_;
  std::string text_;
};

}  // namespace

std::string results_csv(const Results& results) {
  std::string text(header);
  for (const CellResult& result : results.cells) text += CsvWriter(results, result).text();
  return text;
}

}  // namespace allocbench::front
