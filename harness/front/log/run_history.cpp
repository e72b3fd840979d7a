#include "harness/front/log/run_history.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/front/common/errors.hpp"

namespace allocbench::front {
namespace {

using Json = nlohmann::ordered_json;

NamedValues values_from(const Json& object) {
  NamedValues values;
  for (const auto& [name, value] : object.items()) values.emplace_back(name, value_from_json(value));
  return values;
}

template <class T>
std::optional<T> optional_at(const Json& json, const char* key) {
  if (!json.contains(key) || json[key].is_null()) return std::nullopt;
  return json[key].get<T>();
}

class HistoryBuilder {
 public:
  void add(const Json& event) {
    const std::string kind = event.at("event");
    if (history_.started.empty()) history_.started = event.at("time");
    if (kind == "run") return on_run(event);
    if (kind == "device") return on_device(event);
    if (kind == "cell") return on_cell(event);
    if (kind != "start" && kind != "sample" && kind != "end") return;  // a later format may add kinds
    CellHistory& cell = history_.cells.at(index_.at(event.at("cell").get<std::string>()));
    if (kind == "start") {
      cell.attempts = event.at("attempt");
      cell.open_samples.clear();
    } else if (kind == "sample") {
      cell.open_samples.push_back(sample_from(event));
    } else {
      on_end(event, cell);
    }
  }

  RunHistory take() { return std::move(history_); }

 private:
  void on_run(const Json& event) {
    if (event.at("format") != 1) {
      throw UsageError(fmt::format("it has format {}, this allocbench reads format 1", event.at("format").dump()));
    }
    const Json& config = event.at("config");
    history_.figure = config.at("name");
    history_.statistic = config.value("statistic", "median");
    history_.config_text = config.dump();
    history_.config_path = event.value("config_path", "");
    history_.backend = event.at("backend");
    history_.seed = event.at("seed");
    for (const Json& metric : event.value("metrics", Json::array())) {
      history_.units[metric.at("name")] = metric.value("unit", "");
    }
    history_.run_text = event.dump();
    revision_ = event.value("allocbench", Json::object()).value("revision", "");
  }

  void on_device(const Json& event) {
    const Json& device = event.at("device");
    history_.device_text = device.dump();
    device_name_ = device.value("name", "");
  }

  void on_cell(const Json& event) {
    const std::string id = event.at("id");
    if (!index_.emplace(id, history_.cells.size()).second) return;
    CellHistory& cell = history_.cells.emplace_back();
    cell.id = id;
    cell.series = event.at("series");
    cell.allocator = event.at("allocator");
    cell.label = event.value("label", cell.allocator);
    cell.allocator_parameters = values_from(event.at("allocator_parameters"));
    cell.workload = event.at("workload");
    cell.workload_parameters = values_from(event.at("workload_parameters"));
    cell.pool_bytes = event.at("pool_bytes");
    cell.backend = event.at("backend");
    cell.seed = event.at("seed");
    cell.state = event.at("state");
    cell.axes = values_from(event.at("axes"));
  }

  static Sample sample_from(const Json& event) {
    Sample sample;
    double total_seconds = 0;
    std::uint64_t total_operations = 0;
    bool has_total = false;
    for (const Json& phase : event.at("phases")) {
      sample.phases.push_back({phase.at("name"), phase.at("seconds"), phase.value("operations", std::uint64_t{0})});
      total_seconds += sample.phases.back().seconds;
      total_operations += sample.phases.back().operations;
      has_total = has_total || sample.phases.back().name == "total";
    }
    // The contract of workloads: `total` is the sum of the phases and implied.
    if (!has_total) sample.phases.push_back({"total", total_seconds, total_operations});
    const Json counters = event.value("counters", Json::object());
    for (const auto& [name, value] : counters.items()) {
      sample.counters.emplace_back(name, value.get<double>());
    }
    sample.throttled = optional_at<bool>(event, "throttled").value_or(false);
    return sample;
  }

  void on_end(const Json& event, CellHistory& cell) {
    const auto status = status_of(event.at("status").get<std::string>());
    if (!status) throw std::invalid_argument(fmt::format("{} is no status word", event.at("status").dump()));
    cell.end = CellEnd{*status, event.value("reason", ""), event.value("output_tail", "")};
    cell.ended_attempt = event.at("attempt");
    cell.samples = std::move(cell.open_samples);
    cell.open_samples.clear();
    cell.device = device_name_;
    cell.revision = revision_;
    const Json metrics = event.value("metrics", Json::object());
    cell.facts = {};
    const Json registers_by_phase = metrics.value("registers", Json::object());
    for (const auto& [phase, registers] : registers_by_phase.items()) {
      cell.facts.registers.emplace_back(phase, registers.get<std::uint64_t>());
    }
    cell.facts.pool_bytes = optional_at<std::uint64_t>(metrics, "pool_bytes");
    cell.facts.metadata_bytes = optional_at<std::uint64_t>(metrics, "metadata_bytes");
    cell.facts.init_seconds = optional_at<double>(metrics, "init_seconds");
    cell.facts.device_heap_bytes = optional_at<std::uint64_t>(metrics, "device_heap_bytes");
    cell.facts.checks = event.value("checks", Json::object()).dump();
    cell.facts.counted = event.value("counted", Json::object()).dump();
  }

  RunHistory history_;
  std::map<std::string, std::size_t> index_;
  std::string device_name_;
  std::string revision_;
};

}  // namespace

const CellHistory* RunHistory::find(std::string_view id) const {
  for (const CellHistory& cell : cells) {
    if (cell.id == id) return &cell;
  }
  return nullptr;
}

std::size_t RunHistory::finished() const {
  return static_cast<std::size_t>(
      std::count_if(cells.begin(), cells.end(), [](const CellHistory& cell) { return cell.end.has_value(); }));
}

RunHistory read_history(const std::vector<std::string>& lines, const std::string& path) {
  HistoryBuilder builder;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    try {
      builder.add(Json::parse(lines[i]));
    } catch (const std::exception& error) {
      throw UsageError(fmt::format("{}:{} is no event that this allocbench can read: {}", path, i + 1, error.what()));
    }
  }
  RunHistory history = builder.take();
  if (history.run_text.empty()) throw UsageError(fmt::format("{} holds no run.", path));
  return history;
}

}  // namespace allocbench::front
