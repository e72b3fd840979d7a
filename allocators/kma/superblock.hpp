// Superblocks of the reworked KMA have a state word that counts their blocks, and a bitmap of taken blocks.
//
// State word (one per superblock, side array):
//
//   bits  0-31  free blocks, biased by 2^31     bits 48-53  log2 of the block size
//   bits 32-47  blocks in all                   bit  54     attached: in the active table
//                                               bit  55     unused: in the queue of unused superblocks
//
// Protocol: Many threads change this word at the same time. No thread loops on it, because all changes except `recycle`
// are unconditional, and a failed `recycle` is not repeated.
//   reserve  A thread executes fetch_sub(n). If the old word was attached and had the thread's block size and f > 0
//            free blocks, the thread gets min(n, f) blocks and adds the rest of n back. Otherwise (for example, if the
//            active table was outdated), the thread adds all n back. Until then the count is too low. So a request may
//            miss a free block, but never gets a block that does not exist.
//   release  A thread clears the bits and then executes fetch_add(n).
//   attach   A thread executes fetch_add(attached word - unused word). The sum is right even if other threads reserve
//            meanwhile.
//   detach   The one thread that took the superblock out of the active table executes fetch_and(~attached).
//   recycle  A thread that makes the word "all blocks free, not attached" tries one compare-exchange to `unused`. The
//            winner owns the superblock. The word holds the whole state, so ABA is harmless. The attempt fails only if
//            another thread reserves meanwhile. That thread adds back what it took and then tries to recycle, too.
//
// Memory orders: Release and detach are acq_rel. Reserve acquires what attach released (the cleared bitmap). Recycle
// acquires the last writes of all owners.
//
// Bitmap: The bitmap lies in the last bytes of the superblock (paper, figure 1). A set bit marks a taken block. Setting
// a bit acquires and clearing it releases, so the bit hands the block over. Bits are cleared before they are counted,
// so every reservation has a clear bit.
#pragma once

#include "allocators/kma/layout.hpp"
#include "simt/simt.hpp"

namespace allocbench::kma {

struct State {
  static constexpr std::uint64_t bias = std::uint64_t{1} << 31;
  static constexpr std::uint64_t attached_flag = std::uint64_t{1} << 54;
  static constexpr std::uint64_t unused_flag = std::uint64_t{1} << 55;
  static constexpr std::uint64_t unused_word = bias | unused_flag;

  std::uint64_t word;

  static SIMT_HOST_FN std::uint64_t with(std::uint32_t free, std::uint32_t total, std::uint32_t size_log2) {
    return bias + free + (std::uint64_t{total} << 32) + (std::uint64_t{size_log2} << 48);
  }

  // Returns the number of free blocks. It is negative while more blocks are reserved than exist.
  SIMT_HOST_FN std::int32_t free() const { return static_cast<std::int32_t>(static_cast<std::uint32_t>(word - bias)); }
  SIMT_HOST_FN std::uint32_t total() const { return static_cast<std::uint32_t>(word >> 32 & 0xffff); }
  SIMT_HOST_FN std::uint32_t size_log2() const { return static_cast<std::uint32_t>(word >> 48 & 0x3f); }
  SIMT_HOST_FN bool attached() const { return (word & attached_flag) != 0; }
  SIMT_HOST_FN bool unused() const { return (word & unused_flag) != 0; }
  SIMT_HOST_FN bool serves(std::uint32_t log2) const { return attached() && size_log2() == log2; }
  SIMT_HOST_FN bool all_free() const { return free() == static_cast<std::int32_t>(total()); }
  SIMT_HOST_FN bool recyclable() const { return !attached() && !unused() && all_free(); }
};

struct Superblocks : SuperblockArray {
  // Formats an unused superblock, which the caller owns, for blocks of 2^log2 bytes. The first `taken` blocks belong to
  // the caller.
  template <class Thread>
  SIMT_FN void format(Thread& thread, std::uint32_t superblock, std::uint32_t log2, std::uint32_t taken,
                      bool attach) const {
    const std::uint32_t total = capacity(log2);
    std::uint32_t* const words = bitmap(superblock, total);
    for (std::uint32_t w = 0; w < bitmap_words(total); ++w) {
      std::uint32_t bits = surplus_bits(w, total);
      if (taken > w * 32) bits |= taken - w * 32 >= 32 ? ~0u : (1u << (taken - w * 32)) - 1;
      thread.atomic(words[w]).store(bits, simt::relaxed);
    }
    const std::uint64_t formatted = State::with(total - taken, total, log2) | (attach ? State::attached_flag : 0);
    state(thread, superblock).fetch_add(formatted - State::unused_word, simt::release);
  }

  // Adds blocks back to the count. Returns true if the caller now owns the superblock, because all its blocks are free
  // and it is detached.
  template <class Thread>
  SIMT_FN bool give_back(Thread& thread, std::uint32_t superblock, std::uint32_t blocks) const {
    const std::uint64_t before = state(thread, superblock).fetch_add(std::uint64_t{blocks}, simt::acq_rel);
    return recycle(thread, superblock, State{before + blocks});
  }

  // Detaches the superblock, which the caller has removed from the active table. Returns true if the caller now owns
  // the superblock, because all its blocks are free.
  template <class Thread>
  SIMT_FN bool detach(Thread& thread, std::uint32_t superblock) const {
    const std::uint64_t before = state(thread, superblock).fetch_and(~State::attached_flag, simt::acq_rel);
    return recycle(thread, superblock, State{before & ~State::attached_flag});
  }

 private:
  template <class Thread>
  SIMT_FN bool recycle(Thread& thread, std::uint32_t superblock, State seen) const {
    if (!seen.recyclable()) return false;
    std::uint64_t expected = seen.word;
    return state(thread, superblock).compare_exchange(expected, State::unused_word, simt::acq_rel, simt::relaxed);
  }
};

}  // namespace allocbench::kma
