#include "harness/front/plan/plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <regex>
#include <set>

#include "harness/front/common/errors.hpp"
#include "harness/front/common/json_text.hpp"
#include "harness/front/common/limits.hpp"
#include "harness/front/statistics/rounds.hpp"
#include "protocol/parameter_json.hpp"
#include "protocol/parameter_values.hpp"

namespace allocbench::front {
namespace {

constexpr std::string_view allocator_axis_prefix = "allocator.";

// Returns the group of the axis along which a series grows: plot.x, otherwise the first axis. This group varies
// fastest.
std::size_t primary_group(const Config& config) {
  for (std::size_t i = 0; i < config.sweep.size(); ++i) {
    for (const Axis& axis : config.sweep[i].axes) {
      if (!config.x_axis.empty() && axis.name == config.x_axis) return i;
    }
  }
  return 0;
}

const Axis& primary_axis(const Config& config, const AxisGroup& group) {
  for (const Axis& axis : group.axes) {
    if (axis.name == config.x_axis) return axis;
  }
  return group.axes.front();
}

// Runs through all combinations of group indices. The primary group varies fastest, then the others from the last to
// the first.
class Odometer {
 public:
  Odometer(const Config& config, std::size_t primary) : config_(config), indices_(config.sweep.size(), 0) {
    if (!config.sweep.empty()) order_.push_back(primary);
    for (std::size_t i = config.sweep.size(); i-- > 0;) {
      if (i != primary) order_.push_back(i);
    }
  }
  const std::vector<std::size_t>& indices() const { return indices_; }
  bool advance() {
    for (const std::size_t group : order_) {
      if (++indices_[group] < config_.sweep[group].size()) return true;
      indices_[group] = 0;
    }
    return false;
  }

 private:
  const Config& config_;
  std::vector<std::size_t> order_;
  std::vector<std::size_t> indices_;
};

// The exclusions with their values as sets, because every cell is checked against them.
class ExclusionList {
 public:
  explicit ExclusionList(const Config& config) {
    for (const Exclusion& exclusion : config.exclusions) {
      std::vector<Condition>& conditions = list_.emplace_back();
      for (const auto& [name, values] : exclusion.conditions)
        conditions.push_back({name, {values.begin(), values.end()}});
    }
  }
  bool excludes(const Cell& cell) const {
    return std::any_of(list_.begin(), list_.end(), [&](const std::vector<Condition>& conditions) {
      return std::all_of(conditions.begin(), conditions.end(),
                         [&](const Condition& each) { return holds(each, cell); });
    });
  }

 private:
  struct Condition {
    std::string name;
    std::set<ParameterValue> values;
  };
  static bool holds(const Condition& condition, const Cell& cell) {
    if (condition.name == "allocator") {
      return condition.values.contains(cell.allocator) || condition.values.contains(cell.label);
    }
    const ParameterValue* value = protocol::find_value(cell.axes, condition.name);
    return value != nullptr && condition.values.contains(*value);
  }
  std::vector<std::vector<Condition>> list_;
};

void apply_axis(const Axis& axis, const ParameterValue& value, Cell& cell) {
  cell.axes.emplace_back(axis.name, value);
  if (axis.name == "pool_bytes") {
    cell.pool_bytes = std::get<std::uint64_t>(value);
  } else if (axis.name == "l2") {
    cell.settings.l2 = protocol::l2_state_of(std::get<std::string>(value)).value();
  } else if (axis.name == "state") {
    cell.settings.state = protocol::start_state_of(std::get<std::string>(value)).value();
  } else if (axis.name == "aged_rounds") {
    cell.settings.aged_rounds = std::get<std::uint64_t>(value);
  } else if (axis.name.starts_with(allocator_axis_prefix)) {
    protocol::assign_value(cell.allocator_parameters, axis.name.substr(allocator_axis_prefix.size()), value);
  } else {
    protocol::assign_value(cell.workload_parameters, axis.name, value);
  }
}

// Updates the description of the settings, which axes may have changed.
void describe_settings(Cell& cell) {
  cell.seed = cell.settings.seed;
  cell.state = word(cell.settings.state);
  cell.l2 = word(cell.settings.l2);
  if (cell.settings.state == protocol::StartState::aged) cell.aged_rounds = cell.settings.aged_rounds;
}

Cell make_cell(const Config& config, const AllocatorChoice& choice, const std::vector<std::size_t>& indices,
               std::size_t primary) {
  Cell cell;
  cell.allocator = choice.id;
  cell.label = choice.label;
  cell.allocator_parameters = choice.parameters;
  cell.workload = config.workload;
  cell.workload_parameters = choice.settings.workload_parameters;
  cell.pool_bytes = choice.settings.pool_bytes;
  cell.backend = config.backend;
  cell.settings = choice.settings.cell;
  cell.settings.seed = config.seed;
  cell.statistic = config.statistic;
  static_cast<Effort&>(cell) = choice.settings;
  if (cell.least_rounds == 0) {
    cell.least_rounds = std::min<std::uint64_t>(least_rounds, cell.rounds);
  } else {
    cell.least_long_rounds = cell.least_rounds;
  }
  cell.verifies_fully = config.verifies_fully;
  cell.trace = config.trace;
  cell.trace_calls = config.trace_calls;
  cell.series = choice.label;
  cell.name = fmt::format("{}/{}", config.name, choice.label);
  for (std::size_t group = 0; group < config.sweep.size(); ++group) {
    for (const Axis& axis : config.sweep[group].axes) {
      const ParameterValue& value = axis.values[indices[group]];
      apply_axis(axis, value, cell);
      const std::string part = fmt::format("/{}:{}", axis.name, to_text(value));
      cell.name += part;
      if (group != primary) cell.series += part;
    }
  }
  if (!config.sweep.empty()) {
    const AxisGroup& group = config.sweep[primary];
    const Axis& axis = primary_axis(config, group);
    cell.growth = protocol::magnitude(axis.values[indices[primary]]);
    cell.grows_pool = axis.name == "pool_bytes" && group.axes.size() == 1;
  }
  describe_settings(cell);
  cell.id = stable_hash(canonical_text(cell_definition(cell)));
  return cell;
}

}  // namespace

std::size_t Plan::cell_count() const {
  return std::accumulate(batches.begin(), batches.end(), std::size_t{0},
                         [](std::size_t sum, const Batch& batch) { return sum + batch.cells.size(); });
}

namespace {

// Adds a problem if the config describes too many cells. Call it before any expansion.
void check_cell_count(const Config& config, Problems& problems) {
  double cells = static_cast<double>(config.allocators.size());
  for (const AxisGroup& group : config.sweep) cells *= static_cast<double>(group.size());
  if (cells > static_cast<double>(limits::cells)) {
    problems.add({"/sweep", fmt::format("{:.0f} cells", cells),
                  fmt::format("at most {} cells (cells that `exclude` removes count too)", limits::cells), ""});
  }
}

void check_sample_count(const Plan& plan, Problems& problems) {
  double samples = 0;
  for (const Batch& batch : plan.batches) {
    for (const Cell& cell : batch.cells)
      samples += static_cast<double>(cell.repetitions) * static_cast<double>(cell.rounds);
  }
  if (samples > static_cast<double>(limits::samples)) {
    problems.add({"/repetitions", fmt::format("{:.0f} samples of all cells and rounds", samples),
                  fmt::format("at most {}", limits::samples), ""});
  }
  if (plan.batches.size() > limits::batches) {
    problems.add({"/allocators", fmt::format("{} combinations of allocator, parameters and pool", plan.batches.size()),
                  fmt::format("at most {}, because each needs its own allocator instance", limits::batches), ""});
  }
}

// Puts the cells of each allocator into the batches of a plan.
class PlanBuilder {
 public:
  PlanBuilder(const Config& config, const Catalogue& catalogue, Problems& problems)
      : config_(config),
        catalogue_(catalogue),
        problems_(problems),
        primary_(primary_group(config)),
        exclusions_(config),
        plan_{config.name, config.backend, config.seed, {}} {}

  void add(const AllocatorChoice& choice) {
    const protocol::AllocatorDescription& allocator = *find_entry(catalogue_.allocators, choice.id);
    Odometer odometer(config_, primary_);
    do {
      Cell cell = make_cell(config_, choice, odometer.indices(), primary_);
      cell.display_name = allocator.display_name;
      cell.form = allocator.form;
      cell.restrictions = allocator.restrictions;
      if (!exclusions_.excludes(cell) && is_new(cell)) batch_for(cell, allocator).cells.push_back(std::move(cell));
    } while (odometer.advance());
  }
  Plan take() { return std::move(plan_); }

 private:
  bool is_new(const Cell& cell) {
    const auto [twin, added] = name_of_.emplace(cell.id, cell.name);
    if (!added) {
      problems_.add({"/allocators", fmt::format("one cell twice, as {} and as {}", twin->second, cell.name),
                     "cells that differ in at least one parameter", ""});
    }
    return added;
  }

  Batch& batch_for(const Cell& cell, const protocol::AllocatorDescription& allocator) {
    const std::string key =
        fmt::format("{} {} {}", cell.label, protocol::to_json(cell.allocator_parameters).dump(), cell.pool_bytes);
    const auto [place, added] = batch_of_.emplace(key, plan_.batches.size());
    if (added) {
      plan_.batches.push_back({cell.allocator,
                               allocator.plugin,
                               cell.label,
                               cell.allocator_parameters,
                               cell.pool_bytes,
                               allocator.pool_is_device_heap(),
                               allocator.has_heap_share(),
                               allocator.fresh_by_process(),
                               allocator.keeps_device_heap,
                               {}});
    }
    return plan_.batches[place->second];
  }

  const Config& config_;
  const Catalogue& catalogue_;
  Problems& problems_;
  std::size_t primary_;
  ExclusionList exclusions_;
  Plan plan_;
  std::map<std::string, std::size_t> batch_of_;
  std::map<std::string, std::string> name_of_;  // name of each cell id
};

}  // namespace

Plan make_plan(const Config& config, const Catalogue& catalogue, Problems& problems) {
  check_cell_count(config, problems);
  if (!problems.empty()) return {};
  PlanBuilder builder(config, catalogue, problems);
  for (const AllocatorChoice& choice : config.allocators) builder.add(choice);
  Plan plan = builder.take();
  check_sample_count(plan, problems);
  if (plan.batches.empty() && problems.empty()) {
    problems.add({"/exclude", "every cell is excluded", "at least one cell that is not excluded", ""});
  }
  return plan;
}

void require_one_traced_cell(const Plan& plan, const std::string& trace) {
  if (trace.empty() || plan.cell_count() == 1) return;
  throw UsageError(
      fmt::format("/trace: a trace needs a config with one cell; this one makes {}. Choose a cell with --filter, or "
                  "write a config with one allocator and no sweep.",
                  plan.cell_count()));
}

void filter_plan(Plan& plan, const std::string& expression) {
  if (expression.size() > limits::filter_letters) {
    throw UsageError(fmt::format("--filter: the expression must have at most {} characters; found {}.",
                                 limits::filter_letters, expression.size()));
  }
  std::regex regex;
  try {
    // This flag selects an executor with polynomial time. The default one takes exponential time for expressions such
    // as (x+x+)+y.
    regex.assign(expression, std::regex::ECMAScript | std::regex_constants::__polynomial);
  } catch (const std::regex_error&) {
    throw UsageError(fmt::format("--filter: \"{}\" must be a regular expression without back references.", expression));
  }
  std::string example;
  for (Batch& batch : plan.batches) {
    if (example.empty() && !batch.cells.empty()) example = batch.cells.front().name;
    std::erase_if(batch.cells, [&](const Cell& cell) { return !std::regex_search(cell.name, regex); });
  }
  std::erase_if(plan.batches, [](const Batch& batch) { return batch.cells.empty(); });
  if (plan.batches.empty()) {
    throw UsageError(fmt::format("--filter: no cell matches \"{}\". Names look like \"{}\"; --dry-run shows all.",
                                 expression, example));
  }
}

void keep_cells(Plan& plan, const std::set<std::string>& ids) {
  for (Batch& batch : plan.batches) {
    std::erase_if(batch.cells, [&](const Cell& cell) { return !ids.contains(cell.id); });
  }
  std::erase_if(plan.batches, [](const Batch& batch) { return batch.cells.empty(); });
}

std::vector<std::size_t> order_of_round(std::size_t count, std::uint64_t seed, std::uint64_t round) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (round == 0) return order;
  std::mt19937_64 generator(seed * 0x9e3779b97f4a7c15u + round);
  // std::shuffle may differ between standard libraries, but the order must depend only on the seed.
  for (std::size_t last = count; last > 1; --last) std::swap(order[last - 1], order[generator() % last]);
  return order;
}

}  // namespace allocbench::front
