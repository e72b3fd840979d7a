// This file writes results.csv in tidy form, with one row per (cell, phase, metric). The columns are a stable
// interface, which harness/README.md lists.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <boost/algorithm/string/replace.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "harness/front/results/results.hpp"
#include "protocol/event_json.hpp"
#include "protocol/parameter_json.hpp"

namespace allocbench::front {
namespace {

constexpr std::string_view header =
    "figure,cell,series,allocator,label,display_name,form,allocator_parameters,workload,workload_parameters,axes,"
    "pool_bytes,backend,executor,device,uuid,sm_clock_max_mhz,revision,seed,state,status,reason,"
    "phase,metric,unit,better,statistic,value,low,high,confidence,samples,flags,histograms\n";
constexpr std::string_view no_number = ",,,,,,,,,,,,\n";  // end of the row of a cell that is not ok

// Quotes a field by RFC 4180 if necessary. Quotes inside are doubled.
std::string field(std::string_view text) {
  if (text.find_first_of(",\"\n\r") == std::string_view::npos) return std::string(text);
  return fmt::format("\"{}\"", boost::replace_all_copy(std::string(text), "\"", "\"\""));
}

struct Row {
  std::string_view phase;
  std::string metric;
  std::string_view statistic;
  double value = 0;
  std::optional<Interval> interval = {};
  std::size_t samples = 1;
  std::string flags = {};  // words separated by blanks
};

// Returns the beginning of every row of a cell.
std::string prefix_of(const std::string& figure, const CellResult& result) {
  const CellHistory& cell = result.cell;
  const std::vector<std::string> fields = {
      field(figure),
      cell.id,
      field(cell.series),
      cell.allocator,
      field(cell.label),
      field(cell.display_name),
      cell.form,
      field(protocol::to_json(cell.allocator_parameters).dump()),
      cell.workload,
      field(protocol::to_json(cell.workload_parameters).dump()),
      field(protocol::to_json(cell.axes).dump()),
      fmt::format("{}", cell.pool_bytes),
      cell.backend,
      field(cell.origin.executor),
      field(cell.origin.device),
      cell.origin.device_uuid,
      cell.origin.sm_clock_max_mhz ? fmt::format("{}", *cell.origin.sm_clock_max_mhz) : "",
      cell.origin.sources.measured_revision,
      fmt::format("{}", cell.seed),
      cell.state,
      std::string(word(result.status())),
      field(cell.end->short_reason())};
  return fmt::format("{}", fmt::join(fields, ","));
}

std::size_t count_samples(const CellHistory& cell) {
  std::size_t samples = 0;
  for (const std::vector<protocol::Sample>& round : cell.rounds) samples += round.size();
  return samples;
}

// Returns the histograms of the untimed passes, as in results.json.
std::string histograms_of(const CellFacts& facts) {
  if (!facts.counted || facts.counted->histograms.empty()) return {};
  return field(protocol::to_json(*facts.counted)["histograms"].dump());
}

class CsvWriter {
 public:
  CsvWriter(const Results& results, const CellResult& result)
      : results_(results),
        result_(result),
        prefix_(prefix_of(results.figure, result)),
        histograms_(histograms_of(result.cell.facts)) {}

  std::string text() {
    if (result_.status() != Status::ok) return prefix_ + std::string(no_number);
    for (const PhaseResult& phase : result_.phases) add_phase(phase);
    for (const CounterResult& counter : result_.counters) {
      add({"", counter.name, "median", counter.value.centre, counter.value.interval, count_samples(result_.cell),
           result_.provisional ? "provisional" : ""});
    }
    for (const CountedResult& counted : result_.counted) {
      add({"", counted.metric, "mean", counted.mean, {}, counted.passes});
    }
    const CellFacts& facts = result_.cell.facts;
    for (const auto& [phase, registers] : facts.registers) add_fact(phase, "registers", registers);
    for (const auto& [phase, bytes] : facts.local_bytes) add_fact(phase, "local_bytes", bytes);
    if (facts.metadata_bytes) add_fact("", "metadata_bytes", *facts.metadata_bytes);
    if (facts.device_heap_bytes) add_fact("", "device_heap_bytes", *facts.device_heap_bytes);
    if (facts.init_seconds) add({"", "init_time", "value", *facts.init_seconds});
    return std::move(text_);
  }

 private:
  void add_phase(const PhaseResult& phase) {
    const std::size_t count = phase.seconds().size();
    const std::string_view statistic = name_of(results_.statistic);
    const auto& bounds = phase.time.interval;
    std::vector<std::string_view> words;
    if (!phase.throttled.empty()) words.push_back("throttled");
    if (!phase.not_held.empty()) words.push_back("not_held");
    if (result_.provisional) words.push_back("provisional");
    const std::string flags = fmt::format("{}", fmt::join(words, " "));
    add({phase.name, "time", statistic, phase.time.centre, bounds, count, flags});
    const auto throughput = phase.throughput();
    if (!throughput) return;
    std::optional<Interval> interval;
    if (bounds && bounds->low > 0) interval = Interval{phase.operations / bounds->high, phase.operations / bounds->low};
    add({phase.name, "throughput", statistic, *throughput, interval, count, flags});
    add({phase.name, "operations", "median", phase.operations, {}, count});
  }

  void add_fact(std::string_view phase, const char* metric, std::uint64_t value) {
    add({phase, metric, "value", static_cast<double>(value)});
  }

  void add(const Row& row) {
    // A log describes the metrics of its worker. Some metrics without a description have a usual unit. All others are
    // counts. For a metric without a description, neither direction is better.
    static const std::map<std::string_view, std::string_view> units = {
        {"time", "s"}, {"throughput", "op/s"}, {"init_time", "s"}, {"metadata_bytes", "B"}};
    const auto told = results_.history.metrics.find(row.metric);
    const bool known = told != results_.history.metrics.end();
    const auto usual = units.find(row.metric);
    const std::string_view unit =
        known ? std::string_view(told->second.unit) : (usual == units.end() ? std::string_view() : usual->second);
    const std::string_view better = known ? std::string_view(told->second.better) : "none";
    text_ += fmt::format("{},{},{},{},{},{},{},", prefix_, row.phase, field(row.metric), field(unit), better,
                         row.statistic, row.value);
    text_ += row.interval ? fmt::format("{},{},{}", row.interval->low, row.interval->high, confidence) : ",,";
    text_ += fmt::format(",{},{},{}\n", row.samples, row.flags, std::exchange(histograms_, {}));
  }

  const Results& results_;
  const CellResult& result_;
  std::string prefix_;
  std::string histograms_;  // histograms for the first row
  std::string text_;
};

}  // namespace

std::string results_csv(const Results& results) {
  std::string text(header);
  for (const CellResult& result : results.cells) text += CsvWriter(results, result).text();
  return text;
}

}  // namespace allocbench::front
