#include "workloads/verification/call_statistics.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>

namespace allocbench {
namespace {

// The lanes' values combined, by warp and number of the call.
template <class Combine>
std::vector<std::uint64_t> per_warp(std::span<const MallocRecord> records, std::span<const std::uint64_t> values,
                                    Combine combine) {
  // By thread, and the calls of a thread in their order. The threads of a warp are neighbours.
  std::vector<std::uint64_t> order(records.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = std::uint64_t{records[i].thread} << 32 | i;
  std::sort(order.begin(), order.end());
  std::vector<std::uint64_t> combined;
  std::size_t begin_of_warp = 0;
  std::size_t call = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto at = [&](std::size_t place) { return static_cast<std::size_t>(order[place] & 0xffffffffu); };
    const MallocRecord& record = records[at(i)];
    const MallocRecord* const before = i > 0 ? &records[at(i - 1)] : nullptr;
    const bool same_thread = before != nullptr && before->thread == record.thread;
    const bool same_warp = before != nullptr && before->thread - before->lane == record.thread - record.lane;
    call = same_thread ? call + 1 : 0;
    if (!same_warp) begin_of_warp = combined.size();
    if (begin_of_warp + call == combined.size()) {
      combined.push_back(values[at(i)]);
    } else {
      combined[begin_of_warp + call] = combine(combined[begin_of_warp + call], values[at(i)]);
    }
  }
  return combined;
}

double mean(std::span<const std::uint64_t> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// Positions in the queue's line, from 1; requests that found it empty looked once.
std::vector<std::uint64_t> turns(std::span<const MallocRecord> records) {
  std::vector<std::uint32_t> tickets;
  for (const MallocRecord& record : records) {
    if (record.ticket != simt::nothing_noted) tickets.push_back(record.ticket);
  }
  std::sort(tickets.begin(), tickets.end());
  tickets.erase(std::unique(tickets.begin(), tickets.end()), tickets.end());
  std::vector<std::uint64_t> result;
  for (const MallocRecord& record : records) {
    const auto place = std::lower_bound(tickets.begin(), tickets.end(), record.ticket);
    result.push_back(record.ticket == simt::nothing_noted ? 1
                                                          : static_cast<std::uint64_t>(place - tickets.begin()) + 1);
  }
  return result;
}

std::vector<std::uint64_t> steps_of(std::span<const MallocRecord> records, StepUnit unit) {
  if (unit == StepUnit::turn) return turns(records);
  std::vector<std::uint64_t> result;
  for (const MallocRecord& record : records) result.push_back(record.steps);
  return result;
}

}  // namespace

void CallStatistics::add_pass(const CallSums& sums, std::span<const MallocRecord> records) {
  if (!records.empty()) {
    add_steps(records);
    add_pages_seen(records);
  }
  add_calls(sums.mallocs, "malloc");
  add_calls(sums.frees, "free");
}

void CallStatistics::add_calls(const CallCounts& calls, const std::string& call) {
  if (calls.calls == 0) return;
  const auto per_call = [&](const char* what, std::uint64_t count) {
    add(what + ("_per_" + call), static_cast<double>(count) / static_cast<double>(calls.calls));
  };
  const simt::OperationCounts& all = calls.operations;
  per_call("operations", all.operations());
  per_call("compare_exchanges", all.compare_exchanges);
  per_call("lost_exchanges", all.lost_exchanges);
  per_call("updates", all.updates);
}

void CallStatistics::add_steps(std::span<const MallocRecord> records) {
  const std::vector<std::uint64_t> steps = steps_of(records, unit_);
  add("steps_per_malloc", mean(steps));
  add("warp_steps_per_malloc",
      mean(per_warp(records, steps, [](std::uint64_t a, std::uint64_t b) { return std::max(a, b); })));
  const auto retried = std::count_if(steps.begin(), steps.end(), [](std::uint64_t each) { return each > 1; });
  add("retried_mallocs", static_cast<double>(retried));
  Histogram& distribution = histogram("steps");
  for (const std::uint64_t each : steps) ++distribution.bins[std::bit_floor(each)];
}

void CallStatistics::add_pages_seen(std::span<const MallocRecord> records) {
  std::vector<MallocRecord> seeing;
  std::vector<std::uint64_t> seen;
  for (const MallocRecord& record : records) {
    if (record.pages_seen == nothing_seen) continue;
    seeing.push_back(record);
    seen.push_back(record.pages_seen);
  }
  if (seeing.empty()) return;
  const std::vector<std::uint64_t> found = per_warp(seeing, seen, std::plus<>());
  add("pages_found", mean(found));
  Histogram& distribution = histogram("pages_found");
  for (const std::uint64_t each : found) ++distribution.bins[each];
}

void CallStatistics::add(const std::string& metric, double value) {
  for (auto& [name, values] : values_) {
    if (name == metric) return values.push_back(value);
  }
  values_.push_back({metric, {value}});
}

Histogram& CallStatistics::histogram(const std::string& name) {
  for (Histogram& each : histograms_) {
    if (each.name == name) return each;
  }
  return histograms_.emplace_back(Histogram{name, {}});
}

}  // namespace allocbench
