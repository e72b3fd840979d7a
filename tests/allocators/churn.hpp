// churn() is a seeded stress of one allocator. Lanes allocate blocks, fill them and park them in shared slots. A lane
// that finds an earlier block in the slot checks and frees that block. A second kernel does this for all slots.
//
// Every block is filled with its own words. The lane that takes a block out of its slot checks these words and frees
// the block. Scheduling points lie between a fill and its check. So if an allocator hands bytes out twice, the check of
// the block that was overwritten finds this.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "allocators/support/contract/session.hpp"
#include "simt/simt.hpp"
#include "tests/seeds.hpp"

namespace allocbench::testing {

struct ChurnRecord {
  std::uint32_t* block;
  std::uint64_t bytes;
};

// ChurnPlan is the plan of a kernel. Sizes are drawn from the `size_count` entries of `sizes`. slots[i] is 0, or 1 +
// the number of the record of a parked block.
struct ChurnPlan {
  std::uint32_t rounds = 0;
  std::uint32_t seed = 0;
  const std::uint64_t* sizes = nullptr;
  std::uint32_t size_count = 0;
  std::uint32_t slot_count = 0;
  std::uint32_t* slots = nullptr;
  ChurnRecord* records = nullptr;
  std::uint32_t* served = nullptr;  // number of mallocs that did not return null
  std::uint32_t* broken = nullptr;  // 1 + the largest number of an overwritten record; 0 if there is none
};

struct Churn {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, ChurnPlan plan) const {
    auto&& session = attach(allocator, thread);
    const std::uint32_t self = thread.rank_in_grid();
    std::uint32_t random = (plan.seed * 0x9e3779b9u) ^ (self * 0x85ebca6bu + 1);
    const auto draw = [&](std::uint32_t below) {
      random = random * 1664525u + 1013904223u;
      return (random >> 8) % below;
    };
    for (std::uint32_t round = 0; round < plan.rounds; ++round) {
      const std::uint32_t id = self * plan.rounds + round;
      ChurnRecord& record = plan.records[id];
      record.bytes = plan.sizes[draw(plan.size_count)];
      record.block = static_cast<std::uint32_t*>(session.malloc(thread, record.bytes));
      std::uint32_t to_free = 0;
      if (record.block != nullptr) {
        thread.atomic(*plan.served).fetch_add(1u, simt::relaxed);
        for (std::uint64_t word = 0; word < record.bytes / 4; ++word) record.block[word] = content(id, word);
        to_free = thread.atomic(plan.slots[draw(plan.slot_count)]).exchange(id + 1, simt::acq_rel);
      } else {
        to_free = thread.atomic(plan.slots[draw(plan.slot_count)]).exchange(0u, simt::acq_rel);
      }
      if (to_free != 0) check_and_free(thread, session, plan, to_free - 1);
    }
    detach(session, thread);
  }

  template <class Thread, class Session>
  static SIMT_FN void check_and_free(Thread& thread, Session& session, const ChurnPlan& plan, std::uint32_t id) {
    const ChurnRecord& record = plan.records[id];
    for (std::uint64_t word = 0; word < record.bytes / 4; ++word) {
      if (record.block[word] == content(id, word)) continue;
      thread.atomic(*plan.broken).fetch_max(id + 1, simt::relaxed);
      break;
    }
    session.free(thread, record.block);
  }

  static SIMT_FN std::uint32_t content(std::uint32_t id, std::uint64_t word) {
    return (id + 1) * 0x9e3779b1u + static_cast<std::uint32_t>(word);
  }
};

// Drain frees the blocks that the churn left parked.
struct Drain {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, ChurnPlan plan) const {
    auto&& session = attach(allocator, thread);
    for (std::uint32_t i = thread.rank_in_grid(); i < plan.slot_count; i += thread.grid_size()) {
      const std::uint32_t id = thread.atomic(plan.slots[i]).exchange(0u, simt::acq_rel);
      if (id != 0) Churn::check_and_free(thread, session, plan, id - 1);
    }
    detach(session, thread);
  }
};

struct ChurnResult {
  std::uint32_t served = 0;
  std::uint32_t broken = 0;  // 0 if no block was overwritten
};

struct ChurnSetting {
  simt::LaunchShape shape{2, 32};
  std::uint32_t rounds = 8;
  std::uint32_t slots = 16;
  std::vector<std::uint64_t> sizes{16};
};

// Returns a setting for a tiny heap. The seed decides it: if 4 divides the seed, two lanes make 24 rounds. If 3 divides
// the seed, all requests have one size.
inline ChurnSetting setting_of(std::uint64_t seed, std::uint64_t one_size, std::vector<std::uint64_t> many_sizes) {
  ChurnSetting setting;
  setting.shape = seed % 4 == 0 ? simt::LaunchShape{1, 2} : simt::LaunchShape{2, 24};
  setting.rounds = seed % 4 == 0 ? 24 : 4;
  setting.slots = static_cast<std::uint32_t>(1 + seed % 40);
  setting.sizes = seed % 3 == 0 ? std::vector<std::uint64_t>{one_size} : std::move(many_sizes);
  return setting;
}

// Runs the churn. Then checks and frees all blocks that are still parked.
template <class A>
ChurnResult churn(const A& allocator, simt::Stream& stream, std::uint64_t seed, const ChurnSetting& setting) {
  simt::Buffer<std::uint64_t> sizes(setting.sizes.size());
  sizes.from_host(stream, setting.sizes);
  simt::Buffer<std::uint32_t> words(setting.slots + 2);
  words.fill_bytes(stream, 0);
  simt::Buffer<ChurnRecord> records(setting.shape.blocks * setting.shape.threads_per_block * setting.rounds);
  ChurnPlan plan{.rounds = setting.rounds,
                 .seed = static_cast<std::uint32_t>(seed),
                 .sizes = sizes.data(),
                 .size_count = static_cast<std::uint32_t>(setting.sizes.size()),
                 .slot_count = setting.slots,
                 .slots = words.data(),
                 .records = records.data(),
                 .served = words.data() + setting.slots,
                 .broken = words.data() + setting.slots + 1};
  simt::launch(stream, setting.shape, Churn{}, allocator, plan);
  simt::launch(stream, {1, 32}, Drain{}, allocator, plan);
  const std::vector<std::uint32_t> host = words.to_host(stream);
  return {host[setting.slots], host[setting.slots + 1]};
}

}  // namespace allocbench::testing
