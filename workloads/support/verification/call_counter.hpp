// CallCounter holds the device memory in which Counted<A> counts the calls of a pass.
#pragma once

#include <algorithm>

#include "allocators/support/adaptors/counted.hpp"
#include "simt/simt.hpp"
#include "workloads/support/verification/call_statistics.hpp"

namespace allocbench {

class CallCounter {
 public:
  // `mallocs` is the largest number of mallocs of a pass. Only the first `most_records` mallocs are recorded. The sums
  // include all mallocs.
  CallCounter(simt::Stream& stream, std::uint64_t mallocs)
      : stream_(stream), sums_(1), records_(std::min(mallocs, most_records)) {}

  // Clears the memory before a pass.
  CallLedger start() {
    sums_.fill_bytes(stream_, 0);
    return {.sums = sums_.data(), .records = records_.data(), .capacity = records_.size()};
  }

  // Adds the counts of the pass to `statistics`. Call this function after the pass.
  void add_to(CallStatistics& statistics) const {
    const CallSums sums = sums_.to_host(stream_).front();
    std::vector<MallocRecord> records(std::min<std::uint64_t>(sums.mallocs.calls, records_.size()));
    if (!records.empty()) {
      simt::copy_to_host(stream_, records.data(), records_.data(), records.size() * sizeof records[0]);
    }
    statistics.add_pass(sums, records);
  }

 private:
  static constexpr std::uint64_t most_records = 1 << 22;

  simt::Stream& stream_;
  simt::Buffer<CallSums> sums_;
  simt::Buffer<MallocRecord> records_;
};

}  // namespace allocbench
