#include "harness/front/run/forecast.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <variant>

#include "harness/front/common/units.hpp"
#include "protocol/parameter_values.hpp"

namespace allocbench::front {
namespace {

// Risk of a cell that failed in earlier results. A cell also has this risk if a smaller cell of its series lost its
// worker.
constexpr double risk_of_failures = 0.95;
// Risk if one smaller cell exceeded the short deadline of its first round. A second such cell counts as a failure.
constexpr double risk_of_deferral = 0.7;
// Risk of an allocator that was not tried yet. In the mean over all configs this risk counts as `weight_of_usual_risk`
// tried cells.
constexpr double usual_risk = 0.02;
constexpr double weight_of_usual_risk = 2;
// Largest risk in a config in which the allocator was not tried yet. Few failures elsewhere would otherwise keep the
// allocator out of all other configs, and its first cell shows how the config's other cells do.
constexpr double largest_risk_of_first_try = 0.2;

// Shorter rounds count as this long, so that the geometric mean of a config's rounds is never zero.
constexpr double least_round_seconds = 1e-4;
// Shorter fills count as a part of the round, because they cost little.
constexpr double least_fill_seconds = 0.1;
// Some cells that could start from a copy of a filled pool fill it again. The estimate of their share adds this number
// of cells that started from a copy, so that a single refill does not make the share 1.
constexpr double usual_followers = 1;

// Returns whether a cell that ends with this status loses its worker. A loss costs a new start and the seconds until
// the old process is gone.
bool costs_worker(Status status) {
  return status == Status::timeout || status == Status::crashed || status == Status::device_fault;
}

double gib_of_pool(const Cell& cell) { return static_cast<double>(cell.pool_bytes) / (1 << 30); }

// Returns whether the pool is empty at the start of a sample, because the parameter `free_share` of the workload is 1.
bool starts_empty(const Cell& cell) {
  const ParameterValue* const share = protocol::find_value(cell.workload_parameters, "free_share");
  return share != nullptr && std::holds_alternative<double>(*share) && std::get<double>(*share) >= 1;
}

std::vector<double> below(const std::multiset<double>& values, double limit) {
  return {values.begin(), values.lower_bound(limit)};
}

// Returns the value of a key, or null.
template <class Map>
const auto* find_in(const Map& map, const std::string& key) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : &found->second;
}

// Returns the value of two keys in nested maps, or null.
template <class Map>
const auto* find_in(const Map& map, const std::string& outer, const std::string& inner) {
  const auto* const nested = find_in(map, outer);
  return nested == nullptr ? nullptr : find_in(*nested, inner);
}

// Returns the time of the nearest cell with a smaller value, or nullopt if there is none.
std::optional<double> nearest_below(const std::map<double, double>& measured, double growth) {
  const auto end = measured.lower_bound(growth);
  return end == measured.begin() ? std::nullopt : std::optional(std::prev(end)->second);
}

}  // namespace

bool is_expected_again(const CellEnd& end) {
  return !end.left_out && (costs_worker(end.status) || end.status == Status::skipped);
}

void Forecaster::note_round(const std::string& figure, const Cell& cell, double seconds, Fill fill) {
  const bool fills_again = fill.seconds >= least_fill_seconds;
  if (fill.follows && find_in(fills_, cell.label, cell.workload) != nullptr) {
    Fills& fills = fills_[cell.label][cell.workload];
    ++fills.followers;
    fills.refills += fills_again ? 1 : 0;
  }
  // A short fill that follows another one started from a copy, so it does not show how fast the allocator is.
  if (fills_again || !fill.follows) note_fill(cell, fill.seconds);
  if (fills_again) seconds = std::max(0.0, seconds - fill.seconds);
  Record& own = record(figure, cell);
  ++own.tried;
  ++own.timed;
  own.log_seconds += std::log(std::max(seconds, least_round_seconds));
  if (cell.growth) own.series[cell.series].measured[*cell.growth] = seconds;
  const EarlierCell* const earlier = find_in(earlier_, cell.id);
  if (earlier == nullptr || !earlier->other_model || earlier->seconds <= 0) return;
  const double ratio = seconds / earlier->seconds;
  ratios_.insert(std::ranges::upper_bound(ratios_, ratio), ratio);
}

void Forecaster::note_fill(const Cell& cell, double seconds) {
  if (seconds <= 0 || cell.pool_bytes == 0) return;
  if (seconds >= least_fill_seconds) filling_.insert(cell.workload);
  Fills& fills = fills_[cell.label][cell.workload];
  double& of_series = fills.of_series[cell.series];
  of_series = std::max(of_series, seconds / gib_of_pool(cell));
  fills.rate = std::max(fills.rate, of_series);
}

void Forecaster::note_deferred(const std::string& figure, const Cell& cell) {
  Record& own = record(figure, cell);
  ++own.tried;
  ++own.lost;
  if (cell.growth) own.series[cell.series].deferred.insert(*cell.growth);
}

void Forecaster::note_end(const std::string& figure, const Cell& cell, Status status) {
  if (status == Status::skipped || status == Status::unsupported || status == Status::ok) return;  // nothing was lost
  Record& own = record(figure, cell);
  ++own.tried;
  if (!costs_worker(status)) return;
  ++own.lost;
  if (!cell.growth) return;
  own.series[cell.series].lost.insert(*cell.growth);
  if (status == Status::timeout) own.series[cell.series].timeouts.insert(*cell.growth);
}

Forecast Forecaster::about(const std::string& figure, const Cell& cell) const {
  Forecast forecast;
  forecast_seconds(figure, cell, forecast);
  forecast_risk(figure, cell, forecast);
  return forecast;
}

double Forecaster::fill_seconds(const Cell& cell) const {
  const auto* const workloads = find_in(fills_, cell.label);
  if (workloads == nullptr || !filling_.contains(cell.workload) || starts_empty(cell)) return 0;
  double rate = 0;
  for (const auto& [workload, each] : *workloads) rate = std::max(rate, each.rate);
  if (const Fills* const own = find_in(*workloads, cell.workload)) rate = own->rate;
  return std::min(cell.deadline_seconds, rate * gib_of_pool(cell));
}

double Forecaster::fill_seconds_of_series(const Cell& cell) const {
  const Fills* const fills = find_in(fills_, cell.label, cell.workload);
  const double* const rate = fills == nullptr ? nullptr : find_in(fills->of_series, cell.series);
  return rate == nullptr ? 0 : *rate * gib_of_pool(cell);
}

double Forecaster::fill_part(const Cell& cell, std::size_t cells, bool is_filled) const {
  const double seconds = fill_seconds(cell);
  if (seconds <= 0) return 0;
  const Fills* const own = find_in(fills_, cell.label, cell.workload);
  const double again =
      own == nullptr ? 0 : static_cast<double>(own->refills) / (static_cast<double>(own->followers) + usual_followers);
  if (is_filled) return again * seconds;
  return seconds * (1 + again * (static_cast<double>(cells) - 1)) / static_cast<double>(cells);
}

void Forecaster::forecast_seconds(const std::string& figure, const Cell& cell, Forecast& forecast) const {
  forecast.seconds = unknown_seconds;
  const Series* const series = find_series(figure, cell);
  if (const auto seconds = series == nullptr ? std::nullopt : nearest_below(series->measured, *cell.growth)) {
    forecast.seconds = *seconds;
    forecast.is_known = true;
    return;
  }
  // The seconds of earlier results include the fill of the pool if this cell filled it.
  const EarlierCell* const earlier = find_in(earlier_, cell.id);
  if (earlier != nullptr && earlier->seconds > 0) {
    const double scale = earlier->other_model && !ratios_.empty() ? ratios_[ratios_.size() / 2] : 1;
    forecast.seconds = scale * earlier->seconds;
    forecast.is_known = true;
  } else if (const Record* const own = find_in(records_, cell.label, figure)) {
    // This geometric mean counts `unknown_seconds` as one cell.
    forecast.seconds = std::exp((std::log(unknown_seconds) + own->log_seconds) / (static_cast<double>(own->timed) + 1));
  }
}

void Forecaster::forecast_risk(const std::string& figure, const Cell& cell, Forecast& forecast) const {
  const auto fails = [&](std::string reason, double risk = risk_of_failures) {
    forecast.risk = risk;
    forecast.reason = std::move(reason);
  };
  std::vector<double> deferred;
  if (const Series* const series = cell.grows_pool ? nullptr : find_series(figure, cell)) {
    if (const auto smaller = below(series->lost, *cell.growth); !smaller.empty()) {
      return fails(fmt::format("series {} lost its worker at {}", cell.series, smaller.front()));
    }
    deferred = below(series->deferred, *cell.growth);
  }
  const EarlierCell* const earlier = find_in(earlier_, cell.id);
  if (earlier != nullptr && earlier->failed) return fails(earlier->words);
  if (!deferred.empty()) {
    return fails(
        fmt::format("series {} reached the short deadline of a first round at {}", cell.series, deferred.front()),
        deferred.size() > 1 ? risk_of_failures : risk_of_deferral);
  }
  // Adds the failures of the allocator's cells in this config and, with the weight of one cell, those in all configs.
  Record all;
  if (const auto* const configs = find_in(records_, cell.label)) {
    for (const auto& [name, each] : *configs) {
      all.tried += each.tried;
      all.lost += each.lost;
    }
  }
  const auto share = [](const Record& cells, double prior, double weight) {
    return (static_cast<double>(cells.lost) + weight * prior) / (static_cast<double>(cells.tried) + weight);
  };
  const double overall = share(all, usual_risk, weight_of_usual_risk);
  const Record* const own = find_in(records_, cell.label, figure);
  if (own == nullptr) {
    forecast.risk = std::min(overall, largest_risk_of_first_try);
    return;
  }
  forecast.risk = share(*own, overall, 1);
  if (forecast.risk <= Forecast::likely) return;
  forecast.reason = fmt::format("{} lost {} in {} of this config", cell.label, counted(own->lost, "worker"),
                                counted(own->tried, "cell"));
}

void Forecaster::note_earlier_failure(const Cell& cell, std::string words) {
  EarlierCell& earlier = earlier_[cell.id];
  earlier.failed = true;
  earlier.words = std::move(words);
}

void Forecaster::note_unfinished_check(const Cell& cell) {
  unfinished_checks_.emplace(cell.allocator, cell.allocator_parameters);
}

bool Forecaster::expects_unfinished_check(const Cell& cell) const {
  return unfinished_checks_.contains({cell.allocator, cell.allocator_parameters});
}

std::optional<std::string> Forecaster::reason_to_skip(const std::string& figure, const Cell& cell) const {
  const Series* const series = cell.grows_pool ? nullptr : find_series(figure, cell);
  if (series == nullptr) return std::nullopt;
  const std::vector<double> smaller = below(series->timeouts, *cell.growth);
  if (smaller.size() < 2) return std::nullopt;
  return fmt::format("series {} timed out at {} and {}", cell.series, smaller[0], smaller[1]);
}

// Returns null if there is no series, or if no number orders its cells.
const Forecaster::Series* Forecaster::find_series(const std::string& figure, const Cell& cell) const {
  const Record* const own = find_in(records_, cell.label, figure);
  return own == nullptr || !cell.growth ? nullptr : find_in(own->series, cell.series);
}

}  // namespace allocbench::front
