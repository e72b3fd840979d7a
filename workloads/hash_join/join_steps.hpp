// This file has the parts of hash_join that do not use the tested allocator: inputs, partition, the join in two passes,
// reading back, and the comparison with the host's result.
#pragma once

#include <optional>
#include <string>

#include "workloads/hash_join/kernels.hpp"
#include "workloads/hash_join/tables.hpp"
#include "workloads/support/occupancy/page_screen.hpp"
#include "workloads/support/parallel/scan.hpp"
#include "workloads/support/parallel/sort.hpp"

namespace allocbench {

class JoinSteps {
 public:
  // Makes the tables. If `page_bytes` is 0, nothing goes into pages. `threads_per_list` is 1 or the threads of a warp.
  JoinSteps(simt::Stream& stream, const JoinInput& input, const JoinShape& shape, std::uint64_t page_bytes,
            std::uint32_t threads_per_list = 1);

  // Forgets results of earlier samples.
  void prepare();

  // Orders both tables by partition and finds the beginnings of the partitions.
  void partition();
  PartitionedTable r() const { return {r_.hashes.data(), r_.rows.data(), r_.begin.data()}; }
  PartitionedTable s() const { return {s_.hashes.data(), s_.rows.data(), s_.begin.data()}; }

  // Joins without an allocator: counts, computes a prefix sum and writes. The output array is allocated in advance.
  void join_in_two_passes();

  // Returns the memory in which the probe stores its lists.
  PairLists lists() const;
  PageFaults* faults() const { return faults_.data(); }
  // Copies the lists into the output array.
  void read_back();
  // Records the addresses of all pages, untimed.
  void record_pages();

  // Compares the pairs with the host's after a sample. Returns the first mistake, or an empty text.
  std::string problem() const;
  PageFaults faults_of_sample() const { return faults_.to_host(stream_).front(); }
  std::uint64_t pages() const { return screen_ ? screen_->pages() : 0; }
  std::vector<RecordedBlock> page_blocks() const;

  // Returns how many pairs the join must give.
  std::uint64_t expected_pairs() const;

 private:
  struct Table {
    simt::Buffer<std::uint32_t> keys;  // key of each row
    simt::Buffer<std::uint32_t> hashes;
    simt::Buffer<std::uint32_t> rows;
    simt::Buffer<std::uint32_t> begin;
  };
  struct Expected {
    MultisetDigest digest;
    std::vector<std::uint64_t> sorted_pairs;  // pairs of small tables; empty for large ones
  };

  static Expected expected(const JoinInput& input);
  static const Expected& known(const JoinInput& input);
  Table empty_table() const;
  void make_keys(const JoinInput& input);
  void partition(Table& table);
  void scan_counts();
  std::uint64_t found_pairs() const;

  simt::Stream& stream_;
  JoinShape shape_;
  std::uint32_t tuples_;
  std::uint64_t page_bytes_;
  std::uint32_t threads_per_list_;
  Table r_;
  Table s_;
  const Expected* expected_;
  simt::Buffer<std::uint32_t> hashed_;  // keys and rows before the sort
  simt::Buffer<std::uint32_t> numbered_;
  PairSort sort_;
  simt::Buffer<std::uint64_t> counts_;   // pairs in each list
  simt::Buffer<std::uint64_t> offsets_;  // first pair of each list in the output array
  ExclusiveScan scan_;
  simt::Buffer<std::uint64_t> pairs_;  // output array
  simt::Buffer<std::uint64_t> newest_;
  simt::Buffer<PageFaults> faults_;
  std::optional<PageScreen> screen_;
};

}  // namespace allocbench
