#include "workloads/group_by/counted_splits.hpp"

#include <algorithm>

#include "workloads/group_by/keys.hpp"
#include "workloads/support/contract/outcome.hpp"

namespace allocbench {
namespace {

// The records of a pass and the counters of their buckets.
struct CountedInput {
  const group::Record* records;
  const std::uint32_t* lists;  // list of each record; null: all records are in list 0
  std::uint32_t count;
  std::uint32_t pass;

  SIMT_FN std::uint64_t bucket(std::uint32_t i) const {
    const std::uint64_t list = lists == nullptr ? 0 : lists[i];
    return list * group::buckets + (records[i] >> (56 - 8 * pass) & (group::buckets - 1));
  }
};

struct CountSplitKernel {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, CountedInput input, std::uint64_t* counts) const {
    for (std::uint32_t i = thread.rank_in_grid(); i < input.count; i += thread.grid_size()) {
      thread.atomic(counts[input.bucket(i)]).fetch_add(std::uint64_t{1}, simt::relaxed);
    }
  }
};

// Marks every bucket that has records. The sum of the marks before a bucket is the number of its list.
struct MarkListsKernel {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, std::uint64_t* counts, std::uint64_t buckets) const {
    for (std::uint64_t i = thread.rank_in_grid(); i < buckets; i += thread.grid_size()) counts[i] = counts[i] != 0;
  }
};

// `places` says where the next record of a bucket goes. `numbers` has the number of each bucket's list. It is null in
// the last pass.
struct WriteSplitKernel {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, CountedInput input, std::uint64_t* places, const std::uint64_t* numbers,
                          group::Record* records, std::uint32_t* lists) const {
    for (std::uint32_t i = thread.rank_in_grid(); i < input.count; i += thread.grid_size()) {
      const std::uint64_t bucket = input.bucket(i);
      const std::uint64_t place = thread.atomic(places[bucket]).fetch_add(std::uint64_t{1}, simt::relaxed);
      records[place] = input.records[i];
      if (numbers != nullptr) lists[place] = static_cast<std::uint32_t>(numbers[bucket]);
    }
  }
};

std::string why_too_many(std::uint64_t counters) {
  if (counters <= UINT32_MAX) return {};
  return "group_by by counts needs " + std::to_string(counters) + " counters in its last pass, of at most " +
         std::to_string(UINT32_MAX) + ": use fewer keys, or keys that differ less";
}

simt::LaunchShape split_grid(std::uint64_t threads) {
  constexpr std::uint64_t most_blocks = 1 << 16;
  return {static_cast<std::uint32_t>(std::min((threads - 1) / group::block_threads + 1, most_blocks)),
          group::block_threads};
}

}  // namespace

CountedSplits::CountedSplits(simt::Stream& stream, std::uint32_t keys, const std::uint64_t (&lists)[passes])
    : stream_(stream), keys_(keys), lists_before_{1, lists[0], lists[1], lists[2]}, made_{Split(keys), Split(keys)} {
  fail_if_unsupported(why_too_many(counters(passes - 1)));
  counts_ = simt::Buffer<std::uint64_t>(counters(passes - 1));
  places_ = simt::Buffer<std::uint64_t>(counters(passes - 1));
  numbers_ = simt::Buffer<std::uint64_t>(counters(passes - 2));
  for (std::uint32_t pass = 0; pass < passes; ++pass) {
    scans_.emplace_back(static_cast<std::uint32_t>(counters(pass)));
  }
}

void CountedSplits::split(const group::Record* records, std::uint32_t pass) {
  const bool last = pass + 1 == passes;
  const Split& from = made_[1 - pass % 2];
  Split& to = made_[pass % 2];
  const CountedInput input = pass == 0 ? CountedInput{records, nullptr, keys_, pass}
                                       : CountedInput{from.records.data(), from.lists.data(), keys_, pass};
  const std::uint64_t buckets = counters(pass);
  simt::device_fill(stream_, counts_.data(), 0, buckets * sizeof(std::uint64_t));
  simt::launch(stream_, split_grid(keys_), CountSplitKernel{}, input, counts_.data());
  scans_[pass].run(stream_, counts_.data(), places_.data());
  if (!last) {
    simt::launch(stream_, split_grid(buckets), MarkListsKernel{}, counts_.data(), buckets);
    scans_[pass].run(stream_, counts_.data(), numbers_.data());
  }
  const std::uint64_t* const numbers = last ? nullptr : numbers_.data();
  simt::launch(stream_, split_grid(keys_), WriteSplitKernel{}, input, places_.data(), numbers, to.records.data(),
               to.lists.data());
}

MultisetDigest CountedSplits::groups() const {
  MultisetDigest groups;
  const std::vector<group::Record> records = made_[(passes - 1) % 2].records.to_host(stream_);
  for (std::size_t i = 0; i < records.size();) {
    const auto key = static_cast<std::uint32_t>(records[i] >> 32);
    MultisetDigest members;
    for (; i < records.size() && records[i] >> 32 == key; ++i) members.add(static_cast<std::uint32_t>(records[i]));
    groups.add(group_element(key, members));
  }
  return groups;
}

}  // namespace allocbench
