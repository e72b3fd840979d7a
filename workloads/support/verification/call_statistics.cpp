#include "workloads/support/verification/call_statistics.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <boost/sort/spreadsort/integer_sort.hpp>
#include <functional>
#include <iterator>
#include <numeric>

#include "workloads/support/parallel/parallel_for.hpp"

namespace allocbench {
namespace {

constexpr std::size_t threads_of_a_part = 1 << 15;  // fewest threads per part of parallel_for

// Combines the lanes' values by sum or maximum, for each warp and call number. The records are not sorted, because a
// sort of a million records is slow. Instead each core goes through all records and picks those of its own warps.
template <class ValueOf, class Combine>
std::vector<std::uint64_t> per_warp(std::span<const MallocRecord> records, const ValueOf& value_of, Combine combine) {
  std::uint32_t last_thread = 0;
  for (const MallocRecord& record : records) last_thread = std::max(last_thread, record.thread);
  const std::size_t threads = std::size_t{last_thread} + 1;
  const auto for_each_of_warps = [&](const auto& visit) {
    parallel_for(
        threads,
        [&](std::size_t first, std::size_t end) {
          for (std::size_t i = 0; i < records.size(); ++i) {
            const std::size_t warp = records[i].thread - records[i].lane;  // first thread of the warp
            if (warp >= first && warp < end) visit(i, warp);
          }
        },
        threads_of_a_part);
  };
  std::vector<std::uint32_t> calls_of_thread(threads);
  std::vector<std::uint32_t> number(records.size());  // number of the call among the calls of its thread
  std::vector<std::uint32_t> begin(threads +
                                   1);  // first the number of calls of each warp, then the place of its first value
  for_each_of_warps([&](std::size_t i, std::size_t warp) {
    number[i] = calls_of_thread[records[i].thread]++;
    begin[warp] = std::max(begin[warp], number[i] + 1);
  });
  std::exclusive_scan(begin.begin(), begin.end(), begin.begin(), std::uint32_t{0});
  std::vector<std::uint64_t> combined(begin.back());
  for_each_of_warps([&](std::size_t i, std::size_t warp) {
    std::uint64_t& value = combined[begin[warp] + number[i]];
    value = combine(value, value_of(i));
  });
  return combined;
}

double mean(std::span<const std::uint64_t> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// Returns the position of each request in the queue, from 1. A request without a ticket did not queue and gets 1.
// Requests with the same ticket share a position. A radix sort orders the tickets, because a pass may have millions of
// them.
std::vector<std::uint64_t> turns(std::span<const MallocRecord> records) {
  std::vector<std::uint64_t> result(records.size(), 1);
  std::vector<std::uint64_t> by_ticket;  // tickets and records
  by_ticket.reserve(records.size());
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (records[i].ticket != simt::nothing_noted) by_ticket.push_back(std::uint64_t{records[i].ticket} << 32 | i);
  }
  boost::sort::spreadsort::integer_sort(by_ticket.begin(), by_ticket.end());
  std::uint64_t place = 0;
  for (std::size_t i = 0; i < by_ticket.size(); ++i) {
    if (i == 0 || by_ticket[i] >> 32 != by_ticket[i - 1] >> 32) ++place;
    result[by_ticket[i] & 0xffffffffu] = place;
  }
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
  if (unit_ != StepUnit::turn)
    return add_steps(records, [&](std::size_t i) { return std::uint64_t{records[i].steps}; });
  const std::vector<std::uint64_t> places = turns(records);
  add_steps(records, [&](std::size_t i) { return places[i]; });
}

template <class StepsOf>
void CallStatistics::add_steps(std::span<const MallocRecord> records, const StepsOf& steps_of) {
  std::uint64_t sum = 0;
  std::uint64_t retried = 0;
  std::array<std::uint64_t, 65> of_width{};
  for (std::size_t i = 0; i < records.size(); ++i) {
    const std::uint64_t steps = steps_of(i);
    sum += steps;
    retried += steps > 1 ? 1 : 0;
    ++of_width[static_cast<std::size_t>(std::bit_width(steps))];
  }
  add("steps_per_malloc", static_cast<double>(sum) / static_cast<double>(records.size()));
  add("warp_steps_per_malloc",
      mean(per_warp(records, steps_of, [](std::uint64_t a, std::uint64_t b) { return std::max(a, b); })));
  add("retried_mallocs", static_cast<double>(retried));
  Histogram& distribution = histogram("steps");
  for (std::size_t width = 0; width < of_width.size(); ++width) {
    if (of_width[width] != 0) distribution.bins[width == 0 ? 0 : std::uint64_t{1} << (width - 1)] += of_width[width];
  }
}

void CallStatistics::add_pages_seen(std::span<const MallocRecord> records) {
  std::vector<MallocRecord> seeing;
  std::copy_if(records.begin(), records.end(), std::back_inserter(seeing),
               [](const MallocRecord& record) { return record.pages_seen != nothing_seen; });
  if (seeing.empty()) return;
  const std::vector<std::uint64_t> found = per_warp(
      seeing, [&](std::size_t i) { return std::uint64_t{seeing[i].pages_seen}; }, std::plus<>());
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
