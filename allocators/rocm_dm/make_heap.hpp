// Both versions of ROCm's device malloc use this host code to create, reset and check the heap.
#pragma once

#include <bit>
#include <string>
#include <string_view>
#include <vector>

#include "allocators/rocm_dm/heap.hpp"
#include "allocators/support/contract/allocator.hpp"

namespace allocbench::rocm_dm {

inline Heap make_heap(Arena& arena, const Parameters& parameters, std::string_view name) {
  Heap heap;
  heap.pool = SlabPool::of_arena(arena, parameters.slab_bytes, std::uint64_t{1} << 20, name);
  heap.last_kind = Kind::of_request(static_cast<std::uint32_t>(parameters.max_block_bytes));
  std::vector<Kind> kinds;
  for (std::uint32_t kind = 0; kind <= heap.last_kind; ++kind) {
    kinds.push_back(Kind::of(kind, static_cast<std::uint32_t>(parameters.slab_bytes),
                             static_cast<std::uint32_t>(parameters.large_alignment_bytes)));
    if (kinds.back().usable == 0) {
      throw Unsupported(std::string(name) + " needs larger slabs: one of " + std::to_string(parameters.slab_bytes) +
                        " bytes has no block of " + std::to_string(kinds.back().bytes) + " bytes to hand out");
    }
  }
  Kind* const device_kinds = arena.metadata<Kind>(kinds.size());
  simt::copy_to_device(arena.stream(), device_kinds, kinds.data(), kinds.size() * sizeof kinds[0]);
  heap.kinds = device_kinds;
  heap.states = arena.metadata<KindState>(kinds.size());
  heap.records = arena.metadata<Record>(kinds.size() * heap.pool.count);
  heap.interval = parameters.slab_interval;
  heap.orders = parameters.chosen_orders();
  heap.limit.bytes = Kind::bytes_of(heap.last_kind);
  return heap;
}

inline void reset_heap(simt::Stream& stream, const Heap& heap) {
  const std::size_t kinds = heap.last_kind + std::size_t{1};
  heap.pool.reset(stream);
  simt::device_fill(stream, heap.states, 0, kinds * sizeof *heap.states);
  simt::device_fill(stream, heap.records, 0, kinds * heap.pool.count * sizeof *heap.records);
}

// Checks, while no kernel runs, that each record counts the usable blocks whose bits are set. Returns an empty text if
// this is true.
inline std::string broken_record(simt::Stream& stream, const Heap& heap) {
  const auto copy = [&](const auto* device, std::size_t count) {
    std::vector<std::remove_cv_t<std::remove_reference_t<decltype(*device)>>> host(count);
    if (count != 0) simt::copy_to_host(stream, host.data(), device, count * sizeof host[0]);
    return host;
  };
  const std::vector<Kind> kinds = copy(heap.kinds, heap.last_kind + std::size_t{1});
  const std::vector<KindState> states = copy(heap.states, kinds.size());
  for (std::uint32_t kind = 0; kind < kinds.size(); ++kind) {
    const auto records = copy(heap.records + std::size_t{kind} * heap.pool.count, states[kind].slabs);
    for (std::size_t i = 0; i < records.size(); ++i) {
      const std::string name = "slab " + std::to_string(i) + " of " + std::to_string(kinds[kind].bytes) + " bytes";
      if (records[i].slab == 0) return name + " has no address";
      const auto* const base = reinterpret_cast<const std::byte*>(records[i].slab);
      const auto words = copy(reinterpret_cast<const std::uint32_t*>(base + Kind::header_bytes), kinds[kind].words());
      std::uint32_t set = 0;
      for (const std::uint32_t word : words) set += static_cast<std::uint32_t>(std::popcount(word));
      const std::uint32_t used = set - (32 * kinds[kind].words() - kinds[kind].usable);
      if (used != records[i].used) {
        return name + " counts " + std::to_string(records[i].used) + " blocks in use, its bits say " +
               std::to_string(used);
      }
    }
  }
  return {};
}

}  // namespace allocbench::rocm_dm
