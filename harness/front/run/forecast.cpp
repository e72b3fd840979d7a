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

double gib_of_pool(const Cell& cell) { return static_cast<double>(cell.pool_bytes) / (1 << 30); }

// Returns whether the pool is empty at the start of a sample, because the parameter `free_share` of the workload is 1.
bool starts_empty(const Cell& cell) {
  const ParameterValue* const share = protocol::find_value(cell.workload_parameters, "free_share");
  return share != nullptr && std::holds_alternative<double>(*share) && std::get<double>(*share) >= 1;
}

std::vector<double> below(const std::vector<double>& values, double limit) {
  std::vector<double> smaller;
  std::ranges::copy_if(values, std::back_inserter(smaller), [&](double value) { return value < limit; });
  std::ranges::sort(smaller);
  return smaller;
}

// Returns the time of the nearest cell with a smaller value, or nullopt if there is none.
std::optional<double> nearest_below(const std::map<double, double>& measured, double growth) {
  const auto end = measured.lower_bound(growth);
  return end == measured.begin() ? std::nullopt : std::optional(std::prev(end)->second);
}

}  // namespace

bool costs_worker(Status status) {
  return status == Status::timeout || status == Status::crashed || status == Status::device_fault;
}

void Forecaster::note_round(const std::string& figure, const Cell& cell, double seconds, Fill fill) {
  const bool fills_again = fill.seconds >= least_fill_seconds;
  const auto rates = fill_rates_.find(cell.label);
  if (fill.follows && rates != fill_rates_.end() && rates->second.contains(cell.workload)) {
    Followers& followers = followers_[{cell.label, cell.workload}];
    ++followers.cells;
    followers.refills += fills_again ? 1 : 0;
  }
  // A short fill that follows another one started from a copy, so it does not show how fast the allocator is.
  if (fills_again || !fill.follows) note_fill(cell, fill.seconds);
  if (fills_again) seconds = std::max(0.0, seconds - fill.seconds);
  Record& own = record(figure, cell);
  ++own.tried;
  ++own.timed;
  own.log_seconds += std::log(std::max(seconds, least_round_seconds));
  if (cell.growth) own.series[cell.series].measured[*cell.growth] = seconds;
  const auto earlier = earlier_.find(cell.id);
  if (earlier == earlier_.end() || !earlier->second.other_model || earlier->second.seconds <= 0) return;
  const double ratio = seconds / earlier->second.seconds;
  ratios_.insert(std::ranges::upper_bound(ratios_, ratio), ratio);
}

void Forecaster::note_fill(const Cell& cell, double seconds) {
  if (seconds <= 0 || cell.pool_bytes == 0) return;
  if (seconds >= least_fill_seconds) filling_.insert(cell.workload);
  double& rate = fill_rates_[cell.label][cell.workload];
  rate = std::max(rate, seconds / gib_of_pool(cell));
  double& of_series = series_fill_rates_[{cell.label, cell.workload, cell.series}];
  of_series = std::max(of_series, seconds / gib_of_pool(cell));
}

void Forecaster::note_deferred(const std::string& figure, const Cell& cell) {
  Record& own = record(figure, cell);
  ++own.tried;
  ++own.lost;
  if (cell.growth) own.series[cell.series].deferred.push_back(*cell.growth);
}

void Forecaster::note_end(const std::string& figure, const Cell& cell, Status status) {
  if (status == Status::skipped || status == Status::unsupported || status == Status::ok) return;  // nothing was lost
  Record& own = record(figure, cell);
  ++own.tried;
  if (!costs_worker(status)) return;
  ++own.lost;
  if (!cell.growth) return;
  own.series[cell.series].lost.push_back(*cell.growth);
  if (status == Status::timeout) own.series[cell.series].timeouts.push_back(*cell.growth);
}

Forecast Forecaster::about(const std::string& figure, const Cell& cell) const {
  Forecast forecast;
  forecast_seconds(figure, cell, forecast);
  forecast_risk(figure, cell, forecast);
  forecast.fill_seconds = fill_seconds(cell);
  return forecast;
}

double Forecaster::fill_seconds(const Cell& cell) const {
  const auto rates = fill_rates_.find(cell.label);
  if (rates == fill_rates_.end() || !filling_.contains(cell.workload) || starts_empty(cell)) return 0;
  double rate = 0;
  for (const auto& [workload, each] : rates->second) rate = std::max(rate, each);
  if (const auto own = rates->second.find(cell.workload); own != rates->second.end()) rate = own->second;
  return std::min(cell.deadline_seconds, rate * gib_of_pool(cell));
}

double Forecaster::fill_seconds_of_series(const Cell& cell) const {
  const auto rate = series_fill_rates_.find({cell.label, cell.workload, cell.series});
  return rate == series_fill_rates_.end() ? 0 : rate->second * gib_of_pool(cell);
}

double Forecaster::fill_part(const Cell& cell, std::size_t cells, bool is_filled) const {
  const double seconds = fill_seconds(cell);
  if (seconds <= 0) return 0;
  const auto found = followers_.find({cell.label, cell.workload});
  const Followers followers = found == followers_.end() ? Followers{} : found->second;
  const double again =
      static_cast<double>(followers.refills) / (static_cast<double>(followers.cells) + usual_followers);
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
  const auto earlier = earlier_.find(cell.id);
  if (earlier != earlier_.end() && earlier->second.seconds > 0) {
    const double scale = earlier->second.other_model && !ratios_.empty() ? ratios_[ratios_.size() / 2] : 1;
    forecast.seconds = scale * earlier->second.seconds;
    forecast.is_known = true;
  } else if (const Record* const own = find_record(figure, cell)) {
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
  const auto earlier = earlier_.find(cell.id);
  if (earlier != earlier_.end() && earlier->second.failed) return fails(earlier->second.words);
  if (!deferred.empty()) {
    return fails(
        fmt::format("series {} reached the short deadline of a first round at {}", cell.series, deferred.front()),
        deferred.size() > 1 ? risk_of_failures : risk_of_deferral);
  }
  // Adds the failures of the allocator's cells in this config and, with the weight of one cell, those in all configs.
  Record all;
  if (const auto configs = records_.find(cell.label); configs != records_.end()) {
    for (const auto& [name, each] : configs->second) {
      all.tried += each.tried;
      all.lost += each.lost;
    }
  }
  const auto share = [](const Record& cells, double prior, double weight) {
    return (static_cast<double>(cells.lost) + weight * prior) / (static_cast<double>(cells.tried) + weight);
  };
  const double overall = share(all, usual_risk, weight_of_usual_risk);
  const Record* const own = find_record(figure, cell);
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

const Forecaster::Record* Forecaster::find_record(const std::string& figure, const Cell& cell) const {
  const auto of_label = records_.find(cell.label);
  if (of_label == records_.end()) return nullptr;
  const auto found = of_label->second.find(figure);
  return found == of_label->second.end() ? nullptr : &found->second;
}

// Returns null if there is no series, or if no number orders its cells.
const Forecaster::Series* Forecaster::find_series(const std::string& figure, const Cell& cell) const {
  const Record* const own = find_record(figure, cell);
  if (own == nullptr || !cell.growth) return nullptr;
  const auto found = own->series.find(cell.series);
  return found == own->series.end() ? nullptr : &found->second;
}

}  // namespace allocbench::front
