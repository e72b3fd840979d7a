#include "harness/front/run/trouble_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <variant>

#include "harness/protocol/parameter_values.hpp"

namespace allocbench::front {

bool costs_worker(Status status) {
  return status == Status::timeout || status == Status::crashed || status == Status::device_fault;
}

bool foretells_trouble(const CellEnd& end) {
  return costs_worker(end.status) || (end.status == Status::skipped && !end.left_out);
}

namespace {

bool is_whole(const ParameterValue& value) { return std::holds_alternative<std::uint64_t>(value); }

// Whether a cell asks at least as much of its allocator as the other one: whole numbers (threads, sizes, the pool) are
// at least as large, texts and the allocator's own parameters are equal. Shares and probabilities say neither more nor
// less.
bool asks_as_much(const CellDescription& cell, const CellDescription& other) {
  if (cell.workload != other.workload || cell.pool_bytes < other.pool_bytes ||
      cell.allocator_parameters != other.allocator_parameters) {
    return false;
  }
  return std::ranges::all_of(other.workload_parameters, [&](const auto& parameter) {
    const auto& [name, theirs] = parameter;
    const ParameterValue* const ours = protocol::find_value(cell.workload_parameters, name);
    if (ours == nullptr || ours->index() != theirs.index()) return false;
    if (is_whole(theirs)) return std::get<std::uint64_t>(*ours) >= std::get<std::uint64_t>(theirs);
    return std::holds_alternative<double>(theirs) || *ours == theirs;
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
  failures_[cell.label].push_back({fmt::format("{} ended with status {}", cell.name, word(status)), cell});
  if (status == Status::timeout && cell.growth) record.timeouts[cell.series].push_back(*cell.growth);
}

DoubtAbout TroubleWatch::about(const std::string& figure, const Cell& cell) const {
  const auto known = known_.find(cell.id);
  return known == known_.end() ? about_this_run(figure, cell) : known->second;
}

DoubtAbout TroubleWatch::about_this_run(const std::string& figure, const Cell& cell) const {
  if (const auto smaller = smaller_timeouts(figure, cell); !smaller.empty()) {
    return {Doubt::cell, fmt::format("series {} timed out at {}", cell.series, smaller.front())};
  }
  if (const auto failures = failures_.find(cell.label); failures != failures_.end()) {
    for (const Failure& failure : failures->second) {
      if (asks_as_much(cell, failure.cell)) return {Doubt::harder, failure.words};
    }
  }
  const Record* const record = record_of(figure, cell.label);
  if (record == nullptr || !record->lost_more_than_survived()) return {};
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
