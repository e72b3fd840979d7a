// CountedSplits groups records without a memory manager, as in Pham et al. 2025, sec. 6.2. Every pass reads the records
// twice. First it counts the records of each bucket. A prefix sum then gives the beginnings of the buckets, and the
// pass writes the records.
//
// A pass splits every list by one byte of the key, as the other methods do, so it has 256 counters for each list.
//
// Differs from the paper: Lists without records get no counters in the next pass. The paper has a counter for every
// possible value of a key. These take 17.19 GB in the last pass. Our counters have 64 bits.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "simt/simt.hpp"
#include "workloads/group_by/lists.hpp"
#include "workloads/support/parallel/scan.hpp"
#include "workloads/support/random/mix.hpp"

namespace allocbench {

class CountedSplits {
 public:
  static constexpr std::uint32_t passes = 4;

  // `lists` is the number of lists with records after each pass.
  CountedSplits(simt::Stream& stream, std::uint32_t keys, const std::uint64_t (&lists)[passes]);

  // Enqueues a pass. Pass 0 splits `records`, and later passes split the output of the previous pass.
  void split(const group::Record* records, std::uint32_t pass);

  // Returns the digest of the groups. After the last pass, each run of equal keys is one group.
  MultisetDigest groups() const;

 private:
  // The records in the order of their lists, after a pass.
  struct Split {
    simt::Buffer<group::Record> records;
    simt::Buffer<std::uint32_t> lists;  // list of each record; unused after the last pass

    explicit Split(std::uint32_t keys) : records(keys), lists(keys) {}
  };

  std::uint64_t counters(std::uint32_t pass) const { return lists_before_[pass] * group::buckets; }

  simt::Stream& stream_;
  std::uint32_t keys_;
  std::array<std::uint64_t, passes> lists_before_;  // number of lists before each pass
  std::array<Split, 2> made_;
  simt::Buffer<std::uint64_t> counts_, places_, numbers_;
  std::vector<ExclusiveScan> scans_;  // one scan per pass
};

}  // namespace allocbench
