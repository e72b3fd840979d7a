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
#include "harness/front/common/units.hpp"

namespace allocbench::front {
namespace {

constexpr std::string_view allocator_prefix = "allocator.";

// The axis along which a series grows: plot.x, else the first one. Its group varies fastest.
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

// Counts through all combinations of group indices; the primary group varies fastest, then the last ones.
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

bool excluded(const Config& config, const Cell& cell) {
  return std::any_of(config.exclusions.begin(), config.exclusions.end(), [&](const Exclusion& exclusion) {
    return std::all_of(exclusion.conditions.begin(), exclusion.conditions.end(), [&](const auto& condition) {
      return std::any_of(condition.second.begin(), condition.second.end(), [&](const Value& wanted) {
        if (condition.first == "allocator") return to_text(wanted) == cell.allocator || to_text(wanted) == cell.label;
        const Value* value = find(cell.axes, condition.first);
        return value != nullptr && *value == wanted;
      });
    });
  });
}

void apply_axis(const Axis& axis, const Value& value, Cell& cell) {
  cell.axes.emplace_back(axis.name, value);
  if (axis.name == "pool_bytes") {
    cell.pool_bytes = std::get<std::uint64_t>(value);
    cell.pool_pointer = axis.pointer;
  } else if (axis.name.starts_with(allocator_prefix)) {
    assign(cell.allocator_parameters, axis.name.substr(allocator_prefix.size()), value);
  } else {
    assign(cell.workload_parameters, axis.name, value);
  }
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
  cell.pool_pointer = choice.settings.pool_pointer;
  cell.backend = config.backend;
  cell.seed = config.seed;
  cell.state = choice.settings.state;
  cell.repetitions = choice.settings.repetitions;
  cell.warmups = choice.settings.warmups;
  cell.counted_passes = choice.settings.counted_passes;
  cell.deadline_seconds = choice.settings.deadline_seconds;
  cell.series = choice.label;
  cell.name = fmt::format("{}/{}", config.name, choice.label);
  for (std::size_t group = 0; group < config.sweep.size(); ++group) {
    for (const Axis& axis : config.sweep[group].axes) {
      const Value& value = axis.values[indices[group]];
      apply_axis(axis, value, cell);
      const std::string part = fmt::format("/{}:{}", axis.name, to_text(value));
      cell.name += part;
      if (group != primary) cell.series += part;
    }
  }
  if (!config.sweep.empty()) {
    const AxisGroup& group = config.sweep[primary];
    cell.growth = magnitude(primary_axis(config, group).values[indices[primary]]);
  }
  cell.id = stable_hash(canonical_text(cell_definition(cell)));
  return cell;
}

}  // namespace

std::size_t Plan::cell_count() const {
  return std::accumulate(batches.begin(), batches.end(), std::size_t{0},
                         [](std::size_t sum, const Batch& batch) { return sum + batch.cells.size(); });
}

Plan make_plan(const Config& config, const Catalogue& catalogue, Problems& problems) {
  Plan plan{config.name, config.backend, config.rounds, config.seed, {}};
  const std::size_t primary = primary_group(config);
  std::map<std::string, std::size_t> batch_of;
  std::map<std::string, std::string> name_of;  // by cell id
  for (const AllocatorChoice& choice : config.allocators) {
    const AllocatorEntry& entry = *find_entry(catalogue.allocators, choice.id);
    Odometer odometer(config, primary);
    do {
      Cell cell = make_cell(config, choice, odometer.indices(), primary);
      if (excluded(config, cell)) continue;
      const auto [twin, is_new] = name_of.emplace(cell.id, cell.name);
      if (!is_new) {
        problems.add({"/allocators", fmt::format("the same cell twice: {} and {}", twin->second, cell.name),
                      "cells that differ in a parameter", ""});
        continue;
      }
      const std::string key =
          fmt::format("{} {} {}", cell.label, to_json(cell.allocator_parameters).dump(), cell.pool_bytes);
      const auto [place, is_new_batch] = batch_of.emplace(key, plan.batches.size());
      if (is_new_batch) {
        plan.batches.push_back({cell.allocator,
                                cell.label,
                                cell.allocator_parameters,
                                cell.pool_bytes,
                                entry.pool_is_device_heap,
                                entry.fresh_by_process,
                                {}});
      }
      plan.batches[place->second].cells.push_back(std::move(cell));
    } while (odometer.advance());
  }
  if (plan.batches.empty() && problems.empty()) {
    problems.add({"/exclude", "every cell is excluded", "a config with at least one cell", ""});
  }
  return plan;
}

void filter_plan(Plan& plan, const std::string& expression) {
  std::regex regex;
  try {
    regex.assign(expression);
  } catch (const std::regex_error& error) {
    throw UsageError(fmt::format("--filter: \"{}\" is no regular expression ({}).", expression, error.what()));
  }
  std::string example;
  for (Batch& batch : plan.batches) {
    if (example.empty() && !batch.cells.empty()) example = batch.cells.front().name;
    std::erase_if(batch.cells, [&](const Cell& cell) { return !std::regex_search(cell.name, regex); });
  }
  std::erase_if(plan.batches, [](const Batch& batch) { return batch.cells.empty(); });
  if (plan.batches.empty()) {
    throw UsageError(
        fmt::format("--filter: \"{}\" matches no cell; names look like \"{}\" (see --dry-run).", expression, example));
  }
}

void check_pools(const Plan& plan, std::uint64_t device_memory_bytes, std::string_view device_name,
                 Problems& problems) {
  std::set<std::pair<std::string, std::uint64_t>> reported;
  for (const Batch& batch : plan.batches) {
    const std::string& pointer = batch.cells.front().pool_pointer;
    if (batch.pool_bytes <= device_memory_bytes || !reported.emplace(pointer, batch.pool_bytes).second) continue;
    problems.add({pointer, fmt::format("a pool of {}", format_bytes(batch.pool_bytes)),
                  fmt::format("at most the {} of memory of {}", format_bytes(device_memory_bytes), device_name), ""});
  }
}

nlohmann::ordered_json cell_definition(const Cell& cell) {
  return {{"allocator", cell.allocator},
          {"allocator_parameters", to_json(cell.allocator_parameters)},
          {"workload", cell.workload},
          {"workload_parameters", to_json(cell.workload_parameters)},
          {"pool_bytes", cell.pool_bytes},
          {"backend", cell.backend},
          {"seed", cell.seed},
          {"state", cell.state}};
}

std::vector<std::size_t> batch_order(const Plan& plan, std::uint64_t round) {
  std::vector<std::size_t> order(plan.batches.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (plan.rounds == 1) return order;  // the order of the config, which people expect to see
  std::mt19937_64 generator(plan.seed * 0x9e3779b97f4a7c15u + round);
  // std::shuffle may differ between standard libraries; the order belongs to the seed.
  for (std::size_t last = order.size(); last > 1; --last) std::swap(order[last - 1], order[generator() % last]);
  return order;
}

}  // namespace allocbench::front
