// These functions check the invariants of both forms of KMA while no kernel runs.
#pragma once

#include <string>
#include <type_traits>
#include <vector>

#include "allocators/kma/layout.hpp"

namespace allocbench::kma {

// Checks that every superblock is in the queue, in the active table, or detached and in use, and that counts agree with
// bitmaps. Returns an empty text if this is true. `State` reads the state words of the form.
template <class State>
std::string broken_invariant(simt::Stream& stream, const Layout& layout) {
  const SuperblockArray& superblocks = layout.superblocks;
  const auto copy = [&](const auto* device, std::size_t count) {
    std::vector<std::remove_cv_t<std::remove_reference_t<decltype(*device)>>> host(count);
    simt::copy_to_host(stream, host.data(), device, count * sizeof host[0]);
    return host;
  };
  const auto states = copy(superblocks.states, superblocks.count);
  const auto links = copy(layout.unused.links(), superblocks.count);
  const auto active = copy(layout.active, Layout::entries);
  const auto ends = copy(layout.unused.ends(), 1).front();
  const auto name = [](std::size_t superblock) { return "superblock " + std::to_string(superblock); };

  std::vector<bool> queued(superblocks.count);
  for (std::uint32_t i = SuperblockQueue::index(ends.head); i != SuperblockQueue::none;
       i = SuperblockQueue::index(links[i])) {
    if (i >= superblocks.count || queued[i]) return "the queue leads to " + name(i) + " outside or again";
    queued[i] = true;
    if (!State{states[i]}.unused()) return name(i) + " is queued but not marked unused";
  }
  std::vector<bool> listed(superblocks.count);
  for (std::uint32_t log2 = 0; log2 < Layout::entries; ++log2) {
    if (active[log2] == Layout::empty) continue;
    if (active[log2] == Layout::busy) return "entry " + std::to_string(log2) + " is still busy";
    if (!State{states[active[log2]]}.serves(log2)) return name(active[log2]) + " is listed for another block size";
    listed[active[log2]] = true;
  }
  for (std::size_t i = 0; i < superblocks.count; ++i) {
    const State state{states[i]};
    if (queued[i]) continue;
    if (state.unused() || state.attached() != listed[i]) return name(i) + " is in no list where it belongs";
    if (state.recyclable()) return name(i) + " is entirely free but not queued";
    const auto bitmap = copy(superblocks.bitmap(static_cast<std::uint32_t>(i), state.total()),
                             SuperblockArray::bitmap_words(state.total()));
    std::int64_t clear = 0;
    for (const std::uint32_t word : bitmap) clear += 32 - std::popcount(word);
    if (clear != state.free()) {
      return name(i) + " counts " + std::to_string(state.free()) + " free blocks, its bitmap " + std::to_string(clear);
    }
  }
  return {};
}

}  // namespace allocbench::kma
