// This file has the parts of group_by that need no allocator: inputs, the work around the kernels of a pass, the
// comparison with the host's groups, and the same grouping by library calls.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "workloads/group_by/counted_splits.hpp"
#include "workloads/group_by/group_by.hpp"
#include "workloads/group_by/kernels.hpp"
#include "workloads/group_by/keys.hpp"
#include "workloads/support/occupancy/page_screen.hpp"
#include "workloads/support/parallel/sort.hpp"

namespace allocbench {

// The lists that a pass splits, their numbers, and the inputs of the kernels.
struct GroupPass {
  std::uint32_t shorts = 0;
  std::uint32_t mediums = 0;
  std::uint32_t longs = 0;
  std::uint32_t entries = 0;  // entries of the directory
  group::Lists lists{};       // lists that the pass splits
  group::LongInput long_input{};
  group::RunsInput tiles{};  // input for method `runs`
};

class GroupSteps {
 public:
  GroupSteps(simt::Stream& stream, const GroupInput& input, std::uint64_t page_bytes, GroupMethod method);

  // Forgets results of earlier samples.
  void prepare();

  // Prepares a pass, from 0 to 3, and enqueues the preparation on the device.
  GroupPass begin_pass(std::uint32_t pass);
  // Enqueues the clearing of the long lists' tables. `blocks` has the table of each list. If it is null, the tables are
  // in an array of the workload. With method `runs`, this function also makes the tiles.
  void clear_tables(GroupPass& work, void* const* blocks);
  group::TailTables tables() const { return {tails_.data(), table_blocks_}; }
  static std::uint32_t most_tables(std::uint32_t keys);
  const group::PageFormat& format() const { return format_; }
  // Returns the lists that the kernels of the pass make.
  group::Lists made() const { return sets_[made_].lists(state_.data()->counts[made_]); }
  PageFaults* faults() const { return &state_.data()->faults; }
  // Enqueues a kernel that assigns a class to each list that several blocks made. Call this function after the other
  // kernels of a pass.
  void collect();
  // Reads the numbers of lists to the host, and makes the new lists the input of the next pass. Returns false if a
  // request returned null, a page was wrong, or the workload's memory was too small.
  bool end_pass();
  // Returns the lists that the last finished pass made, with their numbers.
  GroupPass last() const;

  // Groups the records by library calls: sorts them by key and encodes the runs.
  void sort_and_encode();
  // Enqueues a pass without pages: it counts, then writes.
  void count_and_write(std::uint32_t pass) { counted_->split(records_.data(), pass); }

  // Reads the lists of the last pass for problem(), and records their pages. This work is untimed. Call this function
  // before the pages are freed.
  void read_lists();
  // Returns the first mistake in the groups, or an empty text. Call this function after a sample.
  std::string problem() const;
  PageFaults faults_of_sample() const { return state_.to_host(stream_).front().faults; }
  std::vector<RecordedBlock> page_blocks() const;
  const ExpectedGroups& expected() const { return *expected_; }

 private:
  struct State {
    std::uint32_t counts[2][4];  // numbers of short, medium and long lists and of directory entries, for both sets
    PageFaults faults;
  };
  // The lists of one pass.
  struct ListSet {
    simt::Buffer<group::List> shorts, mediums, longs;
    simt::Buffer<std::uint32_t> long_of_tail;
    simt::Buffer<std::uint64_t> pages;
    simt::Buffer<std::uint32_t> tails;

    ListSet() = default;
    ListSet(std::uint32_t keys, const group::PageFormat& format);
    group::Lists lists(std::uint32_t* counts) const;
  };
  // The directory sorted by list, and its tiles.
  struct Tiles {
    simt::Buffer<std::uint32_t> keys, order, sorted_keys, sorted_order, begin, end;
    simt::Buffer<std::uint64_t> pages;
    simt::Buffer<group::Tile> tiles;
    PairSort sort;

    Tiles(std::uint32_t keys, std::uint32_t entries, std::uint32_t longs);
  };

  void make_tiles(GroupPass& work);
  std::string sorted_problem() const;

  simt::Stream& stream_;
  GroupMethod method_;
  std::uint32_t keys_;
  group::PageFormat format_;
  const ExpectedGroups* expected_ = nullptr;
  simt::Buffer<State> state_;
  State known_{};  // the state at the host's last read
  std::uint32_t made_ = 0;
  std::uint32_t pass_ = 0;
  std::uint32_t tables_ = 0;             // number of tables that the kernels of the pass append to
  void* const* table_blocks_ = nullptr;  // blocks of these tables

  // The methods `tails` and `runs` use these members. The method `counts` uses records_, too.
  simt::Buffer<group::Record> records_;
  std::array<ListSet, 2> sets_;
  simt::Buffer<group::Tail> tails_;
  std::optional<Tiles> tiles_;
  std::optional<PageScreen> screen_;
  simt::Buffer<MultisetDigest> digest_;
  simt::Buffer<std::uint64_t> read_records_;  // records that were read back, for small inputs
  simt::Buffer<std::uint32_t> read_lists_;
  simt::Buffer<std::uint32_t> read_count_;

  // The method `sort` uses this member.
  struct Sorting {
    simt::Buffer<std::uint32_t> keys, rows, sorted_keys, sorted_rows, once, lengths, runs;
    PairSort sort;
    RunLengths run_lengths;

    Sorting(simt::Stream& stream, const std::vector<std::uint32_t>& host_keys);
  };
  std::optional<Sorting> sorting_;
  std::optional<CountedSplits> counted_;  // splits for method `counts`
};

}  // namespace allocbench
