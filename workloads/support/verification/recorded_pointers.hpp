// RecordedPointers are the result slots of a workload: device memory in which timed kernels store the results of
// malloc, with one row of callers per round.
#pragma once

#include <algorithm>
#include <vector>

#include "simt/simt.hpp"
#include "workloads/support/requests/request_sizes.hpp"
#include "workloads/support/verification/pointer_check.hpp"
#include "workloads/support/verification/poison.hpp"
#include "workloads/support/verification/slot_check.hpp"

namespace allocbench {

class RecordedPointers {
 public:
  RecordedPointers(simt::Stream& stream, std::uint32_t callers, std::uint32_t rounds = 1)
      : stream_(stream), callers_(callers), rounds_(rounds), slots_(std::size_t{callers} * rounds) {}

  void** data() const { return slots_.data(); }
  void** row(std::uint32_t round) const { return data() + std::size_t{round} * callers_; }
  std::uint32_t callers() const { return callers_; }
  std::uint32_t rounds() const { return rounds_; }

  // Poisons the slots, so that a slot that no kernel writes is found.
  void poison() { slots_.fill_bytes(stream_, poison_byte); }
  void clear() { slots_.fill_bytes(stream_, 0); }
  // Fills the slots for kernels that read them. `blocks` has one entry per slot.
  void fill_from(const std::vector<void*>& blocks) { slots_.from_host(stream_, blocks); }

  // Returns the number of null slots. Waits for earlier kernels.
  std::uint64_t nulls() const { return holding(nullptr, 0, rounds_); }
  // Returns the number of slots of these rounds with this address. Waits for earlier kernels.
  std::uint64_t holding(const void* address, std::uint32_t first_round, std::uint32_t end_round) const {
    const std::size_t count = std::size_t{end_round - first_round} * callers_;
    if (const auto found = slot_check_.holding(stream_, row(first_round), count, address)) return *found;
    const std::vector<void*> host = rows_to_host(first_round, end_round);
    return static_cast<std::uint64_t>(std::count(host.begin(), host.end(), address));
  }

  // Returns all slots as blocks for PointerCheck, round by round. `size_of(caller)` returns the requested bytes.
  template <class SizeOf>
  std::vector<RecordedBlock> blocks(SizeOf&& size_of) const {
    const std::vector<void*> host = slots_.to_host(stream_);
    std::vector<RecordedBlock> result(host.size());
    for (std::size_t slot = 0; slot < host.size(); ++slot) {
      result[slot] = {reinterpret_cast<std::uint64_t>(host[slot]), size_of(slot % callers_), slot};
    }
    return result;
  }

  // Returns all slots, for a check with other blocks. Slot i is for sizes[i % period] bytes.
  SlotRange range(AnySize sizes, std::size_t period) const {
    return {.slots = data(), .count = slots_.size(), .sizes = sizes, .period = period};
  }
  // Checks all slots. `sizes` are the sizes of the callers on the device, and `size_of` gives them on the host.
  template <class SizeOf>
  void check(PointerCheck& check, AnySize sizes, SizeOf&& size_of, PointerCheck::Live live) const {
    judge(check, sizes, callers_, size_of, live, rounds_);
  }
  // Checks the slots of the first rounds. Each slot has its own size.
  template <class SizeOf>
  void check_each(PointerCheck& check, AnySize sizes, SizeOf&& size_of, PointerCheck::Live live,
                  std::uint32_t rounds) const {
    judge(check, sizes, slots_.size(), size_of, live, rounds);
  }
  // Adds all slots to the check if the device finds them correct, apart from nulls. Returns false if the host must
  // check them.
  template <class SizeOf>
  bool add_if_right(PointerCheck& check, AnySize sizes, SizeOf&& size_of, PointerCheck::Live live) const {
    return add_if_right(check, range(sizes, callers_), size_of, live);
  }
  // Checks, one by one, the slots that have neither `mark` nor their poison. There are `written` such slots, all of one
  // size.
  void check_unmarked(PointerCheck& check, std::uint64_t bytes, const void* mark, std::uint64_t written) const {
    SlotRange all_slots = range({bytes}, 1);
    all_slots.mark = reinterpret_cast<std::uint64_t>(mark);
    if (const auto nulls =
            slot_check_.nulls_if_right(stream_, {&all_slots, 1}, check.rules(), PointerCheck::Live::separately)) {
      return check.add_right(written, *nulls, written * bytes);
    }
    const std::uint32_t step = std::max(1u, (1u << 20) / std::max(1u, callers_));
    std::vector<RecordedBlock> blocks;
    for (std::uint32_t round = 0; round < rounds_; round += step) {
      const std::vector<void*> host = rows_to_host(round, std::min(rounds_, round + step));
      blocks.clear();
      for (std::size_t slot = 0; slot < host.size(); ++slot) {
        const auto address = reinterpret_cast<std::uint64_t>(host[slot]);
        if (host[slot] == mark || address == poisoned_slot) continue;
        blocks.push_back({address, bytes, std::size_t{round} * callers_ + slot});
      }
      check.check(blocks, PointerCheck::Live::separately);
    }
  }

 private:
  std::vector<void*> rows_to_host(std::uint32_t first, std::uint32_t end) const {
    std::vector<void*> host(std::size_t{end - first} * callers_);
    if (!host.empty()) simt::copy_to_host(stream_, host.data(), row(first), host.size() * sizeof(void*));
    return host;
  }

  template <class SizeOf>
  bool add_if_right(PointerCheck& check, const SlotRange& slots, SizeOf&& size_of, PointerCheck::Live live) const {
    const auto nulls = slot_check_.nulls_if_right(stream_, {&slots, 1}, check.rules(), live);
    if (!nulls) return false;
    const auto bytes_of = [&](std::size_t count) {
      std::uint64_t bytes = 0;
      for (std::size_t slot = 0; slot < count; ++slot) bytes += size_of(slot);
      return bytes;
    };
    const std::size_t times = slots.count / slots.period;
    const std::uint64_t bytes = times == 0 ? 0 : times * bytes_of(slots.period);
    check.add_right(slots.count, *nulls, bytes + bytes_of(slots.count % slots.period));
    return true;
  }

  template <class SizeOf>
  void judge(PointerCheck& check, AnySize sizes, std::size_t period, SizeOf& size_of, PointerCheck::Live live,
             std::uint32_t rounds) const {
    SlotRange all_slots = range(sizes, period);
    all_slots.count = std::size_t{rounds} * callers_;
    if (add_if_right(check, all_slots, size_of, live)) return;
    std::vector<RecordedBlock> all = blocks([](std::size_t) { return std::uint64_t{0}; });
    all.resize(all_slots.count);
    for (RecordedBlock& block : all) block.bytes = size_of(block.request % period);
    check.check(all, live);
  }

  simt::Stream& stream_;
  std::uint32_t callers_;
  std::uint32_t rounds_;
  simt::Buffer<void*> slots_;
  mutable SlotCheck slot_check_;  // memory of the check
};

}  // namespace allocbench
