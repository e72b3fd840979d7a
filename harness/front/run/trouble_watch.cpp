#include "harness/front/run/trouble_watch.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace allocbench::front {

bool costs_worker(Status status) {
  return status == Status::timeout || status == Status::crashed || status == Status::device_fault;
}

bool foretells_trouble(Status status) { return costs_worker(status) || status == Status::skipped; }

void TroubleWatch::note_end(const std::string& figure, const Cell& cell, Status status) {
  if (!costs_worker(status)) return;
  failures_[{figure, cell.label}].push_back(
      {fmt::format("{} ended with status {}", cell.name, word(status)), cell.growth});
  if (status == Status::timeout && cell.growth) timeouts_[{figure, cell.series}].push_back(*cell.growth);
}

DoubtAbout TroubleWatch::about(const std::string& figure, const Cell& cell) const {
  if (const auto known = known_.find(cell.id); known != known_.end()) return {Doubt::cell, known->second};
  if (const auto smaller = smaller_timeouts(figure, cell); !smaller.empty()) {
    return {Doubt::cell, fmt::format("series {} timed out at {}", cell.series, smaller.front())};
  }
  if (const Failure* failure = failure_up_to(figure, cell)) return {Doubt::config, failure->words};
  const auto lost = lost_workers_.find(cell.label);
  if (lost != lost_workers_.end() && lost->second >= workers_to_lose) {
    return {Doubt::allocator, fmt::format("{} lost {} workers", cell.label, lost->second)};
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
  const auto found = timeouts_.find({figure, cell.series});
  if (!cell.growth || found == timeouts_.end()) return smaller;
  std::copy_if(found->second.begin(), found->second.end(), std::back_inserter(smaller),
               [&](double value) { return value < *cell.growth; });
  std::sort(smaller.begin(), smaller.end());
  return smaller;
}

// Where no numbers order the cells, each failure counts for all.
const TroubleWatch::Failure* TroubleWatch::failure_up_to(const std::string& figure, const Cell& cell) const {
  const auto found = failures_.find({figure, cell.label});
  if (found == failures_.end()) return nullptr;
  for (const Failure& failure : found->second) {
    if (!failure.growth || !cell.growth || *failure.growth <= *cell.growth) return &failure;
  }
  return nullptr;
}

}  // namespace allocbench::front
