#include "harness/front/run/trouble_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "harness/protocol/parameter_values.hpp"

namespace allocbench::front {

bool costs_worker(Status status) {
  return status == Status::timeout || status == Status::crashed || status == Status::device_fault;
}

bool foretells_trouble(const CellEnd& end) {
  return costs_worker(end.status) || (end.status == Status::skipped && !end.reason.starts_with(want_of_time));
}

namespace {

// Whether a cell asks at least as much as one with the axes `other` of the same config: numbers are at least as large,
// everything else is equal.
bool as_hard_as(const Cell& cell, const ParameterValues& other) {
  return std::all_of(other.begin(), other.end(), [&](const auto& axis) {
    const ParameterValue* const value = protocol::find_value(cell.axes, axis.first);
    if (value == nullptr) return false;
    const auto asked = protocol::magnitude(*value);
    const auto known = protocol::magnitude(axis.second);
    return asked && known ? *asked >= *known : *value == axis.second;
  });
}

}  // namespace

void TroubleWatch::note_end(const std::string& figure, const Cell& cell, Status status) {
  if (status == Status::skipped || status == Status::unsupported) return;  // no worker tried it
  Record& record = records_[cell.label][figure];
  if (!costs_worker(status)) {
    record.survived.insert(cell.id);
    return;
  }
  record.survived.erase(cell.id);
  record.failures.push_back({fmt::format("{} ended with status {}", cell.name, word(status)), cell.axes});
  if (status == Status::timeout && cell.growth) record.timeouts[cell.series].push_back(*cell.growth);
}

DoubtAbout TroubleWatch::about(const std::string& figure, const Cell& cell) const {
  if (const auto known = known_.find(cell.id); known != known_.end()) return {Doubt::cell, known->second};
  if (const auto smaller = smaller_timeouts(figure, cell); !smaller.empty()) {
    return {Doubt::cell, fmt::format("series {} timed out at {}", cell.series, smaller.front())};
  }
  const Record* const record = record_of(figure, cell.label);
  if (record == nullptr) return {};
  for (const Failure& failure : record->failures) {
    if (as_hard_as(cell, failure.axes)) return {Doubt::harder, failure.words};
  }
  if (!record->lost_more_than_survived()) return {};
  if (record->lost_workers >= workers_to_lose) {
    return {Doubt::config, fmt::format("{} lost {} workers in this config", cell.label, record->lost_workers)};
  }
  if (const std::size_t configs = configs_lost(cell.label); configs > 0) {
    return {Doubt::allocator, fmt::format("{} lost workers in {} configs", cell.label, configs)};
  }
  return {};
}

bool TroubleWatch::series_timed_out(const std::string& figure, const Cell& cell) const {
  return !smaller_timeouts(figure, cell).empty();
}

std::optional<std::string> TroubleWatch::reason_to_skip(const std::string& figure, const Cell& cell) const {
  const std::vector<double> smaller = smaller_timeouts(figure, cell);
  if (smaller.size() < 2) return std::nullopt;
  return fmt::format("series {} timed out at {} and {}", cell.series, smaller[0], smaller[1]);
}

std::vector<double> TroubleWatch::smaller_timeouts(const std::string& figure, const Cell& cell) const {
  std::vector<double> smaller;
  const Record* const record = record_of(figure, cell.label);
  if (record == nullptr || !cell.growth) return smaller;
  const auto found = record->timeouts.find(cell.series);
  if (found == record->timeouts.end()) return smaller;
  std::copy_if(found->second.begin(), found->second.end(), std::back_inserter(smaller),
               [&](double value) { return value < *cell.growth; });
  std::sort(smaller.begin(), smaller.end());
  return smaller;
}

const TroubleWatch::Record* TroubleWatch::record_of(const std::string& figure, const std::string& label) const {
  const auto of_label = records_.find(label);
  if (of_label == records_.end()) return nullptr;
  const auto found = of_label->second.find(figure);
  return found == of_label->second.end() ? nullptr : &found->second;
}

std::size_t TroubleWatch::configs_lost(const std::string& label) const {
  const auto of_label = records_.find(label);
  if (of_label == records_.end()) return 0;
  std::size_t lost = 0;
  std::size_t went_well = 0;
  for (const auto& [figure, record] : of_label->second) {
    if (record.lost_workers > 0) {
      ++lost;
    } else if (!record.survived.empty()) {
      ++went_well;
    }
  }
  return lost >= configs_to_lose_in && lost > went_well ? lost : 0;
}

}  // namespace allocbench::front
