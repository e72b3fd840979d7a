// These functions check the slabs of the reworked form on the host while no kernel runs.
#pragma once

#include <string>
#include <vector>

#include "allocators/halloc/heads.hpp"

namespace allocbench::halloc {

// SlabImage is a copy of everything that the check reads.
struct SlabImage {
  std::vector<std::uint64_t> states, bits;
  std::vector<std::uint32_t> kinds, set_words;
  std::vector<SizeState> sizes;

  bool in_set(const SlabSet& device_set, const Slabs& slabs, std::uint32_t slab) const {
    const std::size_t set_begin = static_cast<std::size_t>(device_set.words - slabs.set_words);
    return (set_words[set_begin + SlabSet::header_words + slab / 32] >> slab % 32 & 1) != 0;
  }
};

inline SlabImage copy_slabs(const Heads& heads, simt::Stream& stream) {
  const Slabs& slabs = heads.slabs;
  const auto copy = [&](auto& host, const auto* device, std::size_t count) {
    host.resize(count);
    simt::copy_to_host(stream, host.data(), device, count * sizeof *device);
  };
  SlabImage image;
  copy(image.states, slabs.states, slabs.count);
  copy(image.kinds, slabs.kinds, slabs.count);
  copy(image.bits, slabs.bits, slabs.bit_word(slabs.count, 0));
  copy(image.set_words, slabs.set_words, std::size_t{Slabs::set_count} * SlabSet::words_for(slabs.count));
  copy(image.sizes, heads.sizes, size_count);
  return image;
}

// Returns the mistake in one slab, or an empty text if there is none. `is_head` is true for the head or next head of a
// size.
inline std::string broken_slab(const Slabs& slabs, const SlabImage& image, std::uint32_t slab, bool is_head) {
  const std::uint64_t state = image.states[slab];
  const std::uint32_t id = SlabState::id(state);
  const std::uint32_t count = SlabState::count(state);
  std::uint32_t used = 0;
  for (std::size_t word = slabs.bit_word(slab, 0); word != slabs.bit_word(slab + 1, 0); ++word) {
    const auto in_use = static_cast<std::uint32_t>(image.bits[word]);
    const auto marks = static_cast<std::uint32_t>(image.bits[word] >> 32);
    used += simt::popcount(in_use);
    if ((marks & ~in_use) != 0 || (marks & 1) != 0 || (marks & ~(in_use << 1)) != 0) return "has marks without a block";
  }
  if (used != count)
    return "counts " + std::to_string(count) + " chunks, but " + std::to_string(used) + " bits are set";
  if (SlabState::head(state) != is_head)
    return is_head ? "is a head, but not marked as one" : "is marked as a head, but is not one";
  const bool in_free_set = image.in_set(slabs.free_set(), slabs, slab);
  if (in_free_set == SlabState::formatted(state))
    return in_free_set ? "is in use, but in the free set" : "is free, but not in the free set";
  if (!SlabState::formatted(state)) return count == 0 ? "" : "is free, but holds blocks";
  if (image.kinds[slab] != kind_of(id)) return "has a size of another kind";
  if (is_head) return {};
  if (count == 0) return "is empty, but not free";
  if (count > slabs.classes.thresholds(kind_of(id)).crammed) return {};
  const bool found = image.in_set(slabs.sparse_set(kind_of(id)), slabs, slab) ||
                     image.in_set(slabs.roomy_set(id), slabs, slab) || image.in_set(slabs.busy_set(id), slabs, slab);
  return found ? "" : "has room, but is in no set";
}

// Copies all words that the check reads. Returns a text about the first size or slab that is broken, or an empty text.
inline std::string broken_slab(const Heads& heads, simt::Stream& stream) {
  const SlabImage image = copy_slabs(heads, stream);
  std::vector<bool> is_head(heads.slabs.count, false);
  for (std::uint32_t id = 0; id < size_count; ++id) {
    const SizeState& size = image.sizes[id];
    if (size.lock % 2 != 0) return "size " + std::to_string(id) + " is still locked";
    for (const std::uint64_t head : {size.head, size.next_head}) {
      if (!Head::exists(head)) continue;
      const std::uint32_t slab = Head::slab(head);
      if (slab >= heads.slabs.count || is_head[slab]) return "size " + std::to_string(id) + " has a wrong head";
      is_head[slab] = true;
      const std::uint64_t state = image.states[slab];
      if (SlabState::era(state) != SlabState::era(head) || SlabState::id(state) != id) {
        return "size " + std::to_string(id) + " has a head of another era or size";
      }
    }
  }
  for (std::uint32_t slab = 0; slab < heads.slabs.count; ++slab) {
    const std::string problem = broken_slab(heads.slabs, image, slab, is_head[slab]);
    if (!problem.empty()) return "slab " + std::to_string(slab) + " " + problem;
  }
  return {};
}

}  // namespace allocbench::halloc
