// These functions check the invariants of LLVM libc's GPU malloc while no kernel runs.
#pragma once

#include <bit>
#include <set>
#include <string>
#include <vector>

#include "allocators/llvm_libc/slab_table.hpp"

namespace allocbench::llvm_libc {

// Checks that no slab is still being made, that a slot with a slab has as many reservations as chunks in use, that the
// slab names this slot, and that no slab is in two places. Returns an empty text if this is true.
inline std::string broken_slot(simt::Stream& stream, const SlabTable& table) {
  const auto copy = [&](const auto* device, std::size_t count) {
    std::vector<std::remove_cv_t<std::remove_reference_t<decltype(*device)>>> host(count);
    if (count != 0) simt::copy_to_host(stream, host.data(), device, count * sizeof host[0]);
    return host;
  };
  std::set<std::uint64_t> places;
  for (const std::uint64_t slab : copy(table.cache, table.cached)) {
    if (slab != 0 && !places.insert(slab).second) return "the cache holds a slab twice";
  }
  const std::vector<Slot> slots = copy(table.slots, table.last_slot + std::size_t{1});
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const Slot& slot = slots[i];
    const std::string name = "slot " + std::to_string(i);
    if (slot.slab == 0) continue;
    if (slot.slab == Slot::making) return name + " is still being made";
    if (!places.insert(slot.slab).second) return name + " holds a slab that is in another place, too";
    const auto* const base = reinterpret_cast<const std::byte*>(slot.slab);
    const SlabHeader header = copy(reinterpret_cast<const SlabHeader*>(base), 1).front();
    if (header.slot != i) return "the slab of " + name + " names slot " + std::to_string(header.slot);
    const std::uint32_t chunks = table.layout().chunks(header.chunk_bytes);
    const auto words = copy(reinterpret_cast<const std::uint32_t*>(base + sizeof(SlabHeader)), (chunks + 31) / 32);
    std::uint32_t used = 0;
    for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) used += words[chunk / 32] >> chunk % 32 & 1;
    if (used != slot.guard.counter) {
      return name + " counts " + std::to_string(slot.guard.counter) + " reservations, but " + std::to_string(used) +
             " chunks are in use";
    }
  }
  return {};
}

}  // namespace allocbench::llvm_libc
