// These functions check the slabs of the published form on the host while no kernel runs.
#pragma once

#include <string>
#include <vector>

#include "allocators/halloc/locked_heads.hpp"

namespace allocbench::halloc {

// CountedImage is a copy of everything that the check reads.
struct CountedImage {
  std::vector<std::uint32_t> counters, locks, bits, lengths, set_words;
  std::vector<SizeHead> sizes;
  std::vector<bool> is_head;  // true for a slab that is the head or next head of a size

  bool in_set(const CountedSlabs& slabs, const SlabBitmap& device_set, std::uint32_t slab) const {
    const std::size_t begin = static_cast<std::size_t>(device_set.words - slabs.set_words);
    return (set_words[begin + slab / 32] >> slab % 32 & 1) != 0;
  }
};

inline CountedImage copy_slabs(const LockedHeads& heads, simt::Stream& stream) {
  const CountedSlabs& slabs = heads.slabs;
  const auto copy = [&](auto& host, const auto* device, std::size_t count) {
    host.resize(count);
    simt::copy_to_host(stream, host.data(), device, count * sizeof *device);
  };
  CountedImage image;
  copy(image.counters, slabs.counters, slabs.count);
  copy(image.locks, slabs.locks, slabs.count);
  copy(image.bits, slabs.bits, slabs.bit_word(slabs.count, 0));
  copy(image.lengths, slabs.lengths, slabs.length_word(slabs.count, 0));
  copy(image.set_words, slabs.set_words, std::size_t{CountedSlabs::set_count} * slabs.words_per_set());
  copy(image.sizes, heads.sizes, size_count);
  image.is_head.resize(slabs.count);
  return image;
}

// Returns the mistake in one slab, or an empty text if there is none.
inline std::string broken_slab(const CountedSlabs& slabs, const CountedImage& image, std::uint32_t slab) {
  const std::uint32_t word = image.counters[slab];
  const std::uint32_t kind = SlabCounter::kind(word);
  if (image.locks[slab] != 0) return "is still locked";
  std::uint32_t used = 0;
  for (std::size_t i = slabs.bit_word(slab, 0); i != slabs.bit_word(slab + 1, 0); ++i)
    used += simt::popcount(image.bits[i]);
  std::uint32_t in_blocks = 0;
  for (std::size_t i = slabs.length_word(slab, 0); i != slabs.length_word(slab + 1, 0); ++i) {
    for (std::uint32_t lengths = image.lengths[i]; lengths != 0; lengths >>= 4) in_blocks += lengths & 15;
  }
  const std::uint32_t count = SlabCounter::chunks(word);
  if (used != count || in_blocks != count) {
    return "counts " + std::to_string(count) + " chunks, but " + std::to_string(used) +
           " bits are set, and blocks have " + std::to_string(in_blocks);
  }
  if (SlabCounter::head(word) != image.is_head[slab]) {
    return image.is_head[slab] ? "is a head, but not marked as one" : "is marked as a head, but is not one";
  }
  const bool in_free_set = image.in_set(slabs, slabs.free_set(), slab);
  if (in_free_set != (kind == SlabCounter::no_kind)) {
    return in_free_set ? "is in use, but in the free set" : "is free, but not in the free set";
  }
  if (kind == SlabCounter::no_kind || image.is_head[slab]) return {};
  const std::uint32_t id = SlabCounter::id(word);
  const bool found = image.in_set(slabs, slabs.sparse_set(kind), slab) ||
                     image.in_set(slabs, slabs.roomy_set(id), slab) || image.in_set(slabs, slabs.busy_set(id), slab);
  return found ? "" : "is in no set";
}

// Copies all words that the check reads. Returns a text about the first size or slab that is broken, or an empty text.
inline std::string broken_slab(const LockedHeads& heads, simt::Stream& stream) {
  CountedImage image = copy_slabs(heads, stream);
  for (std::uint32_t id = 0; id < size_count; ++id) {
    const SizeHead& size = image.sizes[id];
    if (size.lock != 0) return "size " + std::to_string(id) + " is still locked";
    for (const std::uint32_t head : {size.head, size.next_head}) {
      if (head == no_slab) continue;
      if (head >= heads.slabs.count || image.is_head[head] || SlabCounter::id(image.counters[head]) != id) {
        return "size " + std::to_string(id) + " has a wrong head";
      }
      image.is_head[head] = true;
    }
  }
  for (std::uint32_t slab = 0; slab < heads.slabs.count; ++slab) {
    const std::string problem = broken_slab(heads.slabs, image, slab);
    if (!problem.empty()) return "slab " + std::to_string(slab) + " " + problem;
  }
  return {};
}

}  // namespace allocbench::halloc
