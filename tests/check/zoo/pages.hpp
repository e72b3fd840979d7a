// These specimens of the bug zoo (specimen.hpp) divide memory into units of several sizes.
#pragma once

#include "tests/check/zoo/specimen.hpp"

namespace allocbench::zoo {

// RecycledPage binds a page to a block size by its first block and frees it by its last one (mallocMC issue 241). The
// count of a page keeps it bound. If a malloc takes a bit before it is counted, its page may be bound to another size
// meanwhile.
//
// The word of a page has the bound block size in units of 64 bytes (upper half) and the number of counted blocks (lower
// half).
template <Form form>
class RecycledPage : public Specimen {
 public:
  static constexpr Traits traits = specimen(form, "zoo_recycled_page", "zoo_recycled_page_repaired",
                                            "a page is bound to another size while a lane allocates in it");
  static constexpr std::uint32_t page_bytes = 512;
  static constexpr std::uint32_t unit_bytes = 64;
  static constexpr std::uint32_t size_shift = 16;
  static constexpr std::uint32_t count_mask = 0xffff;

  static RecycledPage create(Arena& arena, const Parameters&) {
    RecycledPage allocator;
    allocator.base_ = arena.pool().base;
    allocator.pages_ = static_cast<std::uint32_t>(arena.pool_bytes() / page_bytes);
    allocator.words_ = arena.metadata<std::uint32_t>(allocator.pages_);
    allocator.bits_ = arena.metadata<std::uint32_t>(allocator.pages_);
    return allocator;
  }
  void reset(simt::Stream& stream) {
    simt::device_fill(stream, words_, 0, pages_ * sizeof *words_);
    simt::device_fill(stream, bits_, 0, pages_ * sizeof *bits_);
  }
  static std::size_t max_request(std::size_t, const Parameters&) { return page_bytes; }

  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t bytes) {
    const auto units = static_cast<std::uint32_t>((bytes + unit_bytes - 1) / unit_bytes);
    for (std::uint32_t page = 0; page < pages_; ++page) {
      if constexpr (form == Form::repaired) {
        if (!enter(thread, page, units)) continue;
        const std::uint32_t index = take_bit(thread, page, units);
        if (index < blocks_per_page(units)) return block(page, index, units);
        leave(thread, page);
      } else {
        // In a page that is in use, this form takes a bit and only then counts the block.
        const std::uint32_t seen = thread.atomic(words_[page]).load(simt::acquire);
        if ((seen & count_mask) == 0) {
          if (!enter(thread, page, units)) continue;
          const std::uint32_t index = take_bit(thread, page, units);
          if (index < blocks_per_page(units)) return block(page, index, units);
          leave(thread, page);
        } else if (seen >> size_shift == units) {
          const std::uint32_t index = take_bit(thread, page, units);
          if (index >= blocks_per_page(units)) continue;
          thread.atomic(words_[page]).fetch_add(1u, simt::acq_rel);
          return block(page, index, units);
        }
      }
    }
    return nullptr;
  }

  template <class Thread>
  SIMT_FN void free(Thread& thread, void* memory) {
    if (memory == nullptr) return;
    const auto offset = static_cast<std::uint32_t>(static_cast<std::byte*>(memory) - base_);
    const std::uint32_t page = offset / page_bytes;
    const std::uint32_t units = thread.atomic(words_[page]).load(simt::relaxed) >> size_shift;
    const std::uint32_t index = units == 0 ? 0 : offset % page_bytes / (units * unit_bytes);
    thread.atomic(bits_[page]).fetch_and(~(1u << index), simt::release);
    leave(thread, page);
  }

 private:
  static SIMT_FN std::uint32_t blocks_per_page(std::uint32_t units) { return page_bytes / (units * unit_bytes); }
  SIMT_FN void* block(std::uint32_t page, std::uint32_t index, std::uint32_t units) const {
    return base_ + std::size_t{page} * page_bytes + std::size_t{index} * units * unit_bytes;
  }

  // Counts the caller if the page is free or bound to this size.
  template <class Thread>
  SIMT_FN bool enter(Thread& thread, std::uint32_t page, std::uint32_t units) {
    const auto word = thread.atomic(words_[page]);
    std::uint32_t seen = word.load(simt::relaxed);
    for (;;) {
      const bool is_free = (seen & count_mask) == 0;
      if (!is_free && seen >> size_shift != units) return false;
      const std::uint32_t wanted = is_free ? (units << size_shift | 1) : seen + 1;
      if (word.compare_exchange(seen, wanted, simt::acq_rel, simt::relaxed)) return true;
    }
  }
  template <class Thread>
  SIMT_FN void leave(Thread& thread, std::uint32_t page) {
    thread.atomic(words_[page]).fetch_sub(1u, simt::release);
  }
  template <class Thread>
  SIMT_FN std::uint32_t take_bit(Thread& thread, std::uint32_t page, std::uint32_t units) {
    const std::uint32_t blocks = blocks_per_page(units);
    const auto bits = thread.atomic(bits_[page]);
    std::uint32_t seen = bits.load(simt::relaxed);
    for (;;) {
      const std::uint32_t index = simt::count_trailing_zeros(~seen);
      if (index >= blocks) return blocks;
      seen = bits.fetch_or(1u << index, simt::acquire);
      if ((seen >> index & 1) == 0) return index;
    }
  }

  std::byte* base_ = nullptr;
  std::uint32_t pages_ = 0;
  std::uint32_t* words_ = nullptr;
  std::uint32_t* bits_ = nullptr;
};

// MisalignedSplit is a bump allocator that rounds requests to 8 bytes. A block behind an odd multiple of 8 is
// misaligned.
template <Form form>
class MisalignedSplit : public BumpBytes {
 public:
  static constexpr Traits traits = specimen(form, "zoo_misaligned_split", "zoo_misaligned_split_repaired",
                                            "the rest of a split begins at a multiple of 8, not of 16", Frees::never);

  using BumpBytes::BumpBytes;
  static MisalignedSplit create(Arena& arena, const Parameters&) { return MisalignedSplit(arena); }

  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t bytes) {
    const std::uint64_t need = simt::round_up<std::uint64_t>(bytes, form == Form::broken ? 8 : 16);
    const std::uint64_t offset = thread.atomic(*next_).fetch_add(need, simt::relaxed);
    return offset + need > pool_.bytes ? nullptr : pool_.base + offset;
  }
};

}  // namespace allocbench::zoo
