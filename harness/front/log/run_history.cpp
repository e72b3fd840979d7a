#include "harness/front/log/run_history.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/front/common/errors.hpp"
#include "harness/front/common/units.hpp"
#include "harness/front/log/event_log.hpp"
#include "protocol/description_json.hpp"
#include "protocol/event_json.hpp"

namespace allocbench::front {
namespace {

using Json = nlohmann::ordered_json;
using protocol::Malformed;

std::vector<std::pair<std::string, std::uint64_t>> counts_by_phase(const Json& metrics, const char* name) {
  std::vector<std::pair<std::string, std::uint64_t>> counts;
  if (protocol::optional_member(metrics, name) == nullptr) return counts;
  const Json& by_phase = protocol::object_member(metrics, name);
  for (const auto& [phase, count] : by_phase.items()) {
    counts.emplace_back(phase, protocol::count_member(by_phase, phase));
  }
  return counts;
}

CellFacts facts_from(const Json& event) {
  CellFacts facts;
  if (const Json* metrics = protocol::optional_member(event, "metrics")) {
    facts.registers = counts_by_phase(*metrics, "registers");
    facts.local_bytes = counts_by_phase(*metrics, "local_bytes");
    facts.pool_bytes = protocol::optional_count(*metrics, "pool_bytes");
    facts.metadata_bytes = protocol::optional_count(*metrics, "metadata_bytes");
    facts.init_seconds = protocol::optional_seconds(*metrics, "init_seconds");
    facts.device_heap_bytes = protocol::optional_count(*metrics, "device_heap_bytes");
  }
  if (protocol::optional_member(event, "checks") != nullptr) {
    facts.checks = protocol::checks_from_json(protocol::object_member(event, "checks"));
  }
  if (protocol::optional_member(event, "counted") != nullptr) {
    facts.counted = protocol::counted_from_json(protocol::object_member(event, "counted"));
  }
  return facts;
}

// The contract of workloads defines `total` as the sum of the phases, if no phase has that name.
void add_total(protocol::Sample& sample) {
  Phase total{"total", 0, 0};
  for (const Phase& phase : sample.phases) {
    if (phase.name == total.name) return;
    total.seconds += phase.seconds;
    total.operations += phase.operations;
    if (total.not_held.empty()) total.not_held = phase.not_held;
  }
  sample.phases.push_back(total);
}

double fill_seconds_of(const Json& event) { return protocol::optional_seconds(event, "fill_seconds").value_or(0); }

// Returns the largest number of rounds of a cell, for logs whose `cell` events do not contain it.
std::uint64_t rounds_of_config(const RunHistory& history, const std::string& allocator) {
  const auto otherwise = protocol::count_member_or(*history.config, "rounds", default_rounds(history.backend));
  if (protocol::optional_member(*history.config, "overrides") == nullptr) return otherwise;
  const Json& overrides = protocol::object_member(*history.config, "overrides");
  if (protocol::optional_member(overrides, allocator) == nullptr) return otherwise;
  return protocol::count_member_or(protocol::object_member(overrides, allocator), "rounds", otherwise);
}

class HistoryBuilder {
 public:
  void add(const Json& event) {
    const std::string kind = protocol::text_member(event, "event");
    if (history_.started.empty()) history_.started = protocol::text_member(event, "time");
    if (kind == "run") return on_run(event);
    if (kind == "device") return on_device(event);
    if (kind == "cell") return on_cell(event);
    if (kind == "kept") history_.without_samples = true;
    static const std::set<std::string_view> of_cells = {"start", "verified", "sample", "round", "deferred", "end"};
    if (!of_cells.contains(kind)) return;  // other kinds, such as `strays`, describe no cell
    CellHistory& cell = known_cell(protocol::text_member(event, "cell"));
    if (kind == "start") {
      cell.attempts = protocol::count_member(event, "attempt");
      cell.open = {};
      if (cell.end && cell.end->left_out) cell.end.reset();  // the cell starts after all
    } else if (kind == "verified") {
      cell.open.verified = true;
      cell.open.origin = origin_of(sources_, executor_, history_.device);
      cell.open.facts = facts_from(event);
    } else if (kind == "sample") {
      cell.open.running.push_back(protocol::sample_from_json(event));
      add_total(cell.open.running.back());
    } else if (kind == "deferred") {
      cell.deferred = true;
      cell.tried = protocol::optional_truth(event, "tried").value_or(true);
      cell.fill_seconds = fill_seconds_of(event);
      cell.open = {};
    } else if (kind == "round") {
      cell.deferred = false;
      on_round(event, cell);
    } else {
      on_end(event, cell);
    }
  }

  RunHistory take() { return std::move(history_); }

 private:
  CellHistory& known_cell(const std::string& id) {
    const auto place = index_.find(id);
    if (place == index_.end()) throw Malformed(fmt::format("no earlier line describes the cell \"{}\"", id));
    return history_.cells[place->second];
  }

  static void on_round(const Json& event, CellHistory& cell) {
    OpenAttempt& open = cell.open;
    if (protocol::count_member(event, "samples") != open.running.size() || open.running.empty()) {
      throw Malformed(fmt::format("the round has {}", counted(open.running.size(), "sample")));
    }
    const double seconds = protocol::seconds_member(event, "seconds");
    if (open.rounds.empty()) {
      cell.first_round_seconds = seconds;
      cell.fill_seconds = fill_seconds_of(event);
    }
    open.seconds += seconds;
    open.rounds.push_back(std::move(open.running));
    open.running.clear();
  }

  void on_run(const Json& event) {
    for (CellHistory& cell : history_.cells) cell.open.running.clear();  // a resumed run repeats these rounds
    const std::uint64_t format = protocol::count_member(event, "format");
    if (format != log_format) throw WrongFormat(format);
    const Json& config = protocol::object_member(event, "config");
    history_.figure = protocol::text_member(config, "name");
    history_.statistic = protocol::text_member_or(config, "statistic", "median");
    history_.config = std::make_shared<const Json>(config);
    history_.backend = protocol::text_member(event, "backend");
    history_.seed = protocol::count_member(event, "seed");
    if (protocol::optional_member(event, "metrics") != nullptr) {
      for (const Json& metric : protocol::list_member(event, "metrics")) {
        protocol::MetricDescription description = protocol::metric_from_json(metric);
        std::string name = description.name;
        history_.metrics[std::move(name)] = std::move(description);
      }
    }
    std::vector<std::string> plan;
    if (protocol::optional_member(event, "planned") != nullptr) {
      for (const Json& id : protocol::list_member(event, "planned")) {
        if (!id.is_string()) throw Malformed("\"planned\" must be a list of strings");
        plan.push_back(id.get<std::string>());
      }
    }
    history_.planned.insert(plan.begin(), plan.end());
    if (plan.size() >= history_.plan.size()) history_.plan = std::move(plan);
    history_.shard = shard_of_run(event);
    history_.run = std::make_shared<const Json>(event);
    if (const Json* program = protocol::optional_member(event, "allocbench")) {
      sources_ = sources_from_json(*program);
    }
    executor_ = protocol::text_member_or(event, "executor", "");
  }

  void on_device(const Json& event) {
    history_.device = protocol::device_from_json(protocol::object_member(event, "device"));
  }

  void on_cell(const Json& event) {
    if (history_.run == nullptr) throw Malformed("a cell must come after the run that it belongs to");
    CellHistory cell;
    static_cast<CellDescription&>(cell) = cell_description_from(event);
    const auto told = protocol::optional_count(event, "rounds");
    cell.most_rounds = told ? *told : rounds_of_config(history_, cell.allocator);
    if (index_.emplace(cell.id, history_.cells.size()).second) history_.cells.push_back(std::move(cell));
  }

  void on_end(const Json& event, CellHistory& cell) {
    cell.end = end_from_json(event);
    cell.deferred = cell.deferred && cell.end->left_out;
    OpenAttempt open = std::move(cell.open);
    cell.open = {};
    // The numbers include samples of a round that a failure ended.
    if (!open.running.empty()) open.rounds.push_back(std::move(open.running));
    if (cell.end->status == Status::ok && open.rounds.empty()) throw Malformed("a cell that is ok must have samples");
    cell.ended_attempt = protocol::count_member(event, "attempt");
    cell.rounds = std::move(open.rounds);
    cell.origin = origin_of(sources_, executor_, history_.device);
    cell.facts = std::move(open.facts);
  }

  RunHistory history_;
  std::map<std::string, std::size_t> index_;
  Sources sources_;
  std::string executor_;
};

// Returns what the user can do about a line that cannot be read.
std::string_view next_step(const Malformed& mistake, bool first_line) {
  if (dynamic_cast<const WrongFormat*>(&mistake) != nullptr) {
    return "Read it with the version that wrote it, or measure again.";
  }
  if (first_line) return "Restore the log from a copy, or measure again.";
  return "Restore the log from a copy, or delete this line and all later ones; --resume then measures the rest.";
}

}  // namespace

std::size_t RunHistory::finished() const {
  return static_cast<std::size_t>(std::count_if(
      cells.begin(), cells.end(), [](const CellHistory& cell) { return cell.end && cell.end->is_final(); }));
}

std::size_t RunHistory::unfinished() const {
  std::set<std::string> missing = planned;
  for (const CellHistory& cell : cells) {
    if (cell.end) {
      missing.erase(cell.id);
    } else {
      missing.insert(cell.id);
    }
  }
  return missing.size();
}

RunHistory read_history(const std::vector<std::string>& lines, const std::string& path) {
  HistoryBuilder builder;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    try {
      builder.add(protocol::parse_object(lines[i], "an event"));
    } catch (const Malformed& error) {
      throw UsageError(
          fmt::format("{}:{}: not a valid event: {}. {}", path, i + 1, error.what(), next_step(error, i == 0)));
    }
  }
  RunHistory history = builder.take();
  if (history.run == nullptr) throw UsageError(fmt::format("{} contains no run.", path));
  return history;
}

}  // namespace allocbench::front
