// Layout holds what both forms of KMA share: equal superblocks over the pool, the table of active superblocks, and the
// queue of unused superblocks.
//
// Paper: Spliet, Howes, Gaster & Varbanescu, GPGPU-7 2014, section 4.2, figures 1 and 2.
#pragma once

#include <algorithm>
#include <bit>
#include <string>
#include <string_view>

#include "allocators/kma/superblock_queue.hpp"
#include "allocators/support/common/request.hpp"
#include "allocators/support/contract/allocator.hpp"
#include "simt/simt.hpp"

namespace allocbench::kma {

struct Parameters {
  std::uint64_t superblock_bytes = 64 << 10;

  static auto fields() {
    return std::tuple{
        Field{"superblock_bytes", &Parameters::superblock_bytes, "B",
              "size of a superblock; a block has at most half of it. The case study of the paper has 4096",
              "sec. 4.2, chosen by the user"}
            .between(256, 1 << 20)
            .powers_of_two()};
  }
};

// SuperblockArray divides the pool into superblocks of equal size. Each superblock has one state word.
struct SuperblockArray {
  static constexpr std::uint32_t least_log2 = 4;        // log2 of the smallest block: 16 bytes, the alignment
  static constexpr std::uint32_t most_blocks = 0xffff;  // most blocks of a superblock: the state counts them with 16
                                                        // bits

  std::byte* base = nullptr;
  std::uint64_t* states = nullptr;
  std::uint32_t count = 0;
  std::uint32_t bytes_log2 = 0;

  SIMT_HOST_FN std::uint32_t bytes() const { return 1u << bytes_log2; }

  // Returns the number of blocks of 2^log2 bytes in a superblock. The bytes behind them have room for the bitmap. This
  // room is sized as if the blocks filled the superblock.
  SIMT_HOST_FN std::uint32_t capacity(std::uint32_t log2) const {
    const std::uint32_t most = bytes() >> log2;
    return (bytes() - (most + 31) / 32 * 4) >> log2;
  }
  static SIMT_HOST_FN std::uint32_t bitmap_words(std::uint32_t capacity) { return (capacity + 31) / 32; }

  SIMT_HOST_FN std::byte* begin(std::uint32_t superblock) const {
    return base + (std::size_t{superblock} << bytes_log2);
  }
  // Returns the bitmap, which is in the last bytes of the superblock (paper, figure 1). A set bit marks a taken block.
  SIMT_HOST_FN std::uint32_t* bitmap(std::uint32_t superblock, std::uint32_t capacity) const {
    return reinterpret_cast<std::uint32_t*>(begin(superblock) + bytes()) - bitmap_words(capacity);
  }

  template <class Thread>
  SIMT_FN auto state(Thread& thread, std::uint32_t superblock) const {
    return thread.atomic(states[superblock]);
  }

  // Returns the bits of bitmap word `word` that do not belong to a block.
  static SIMT_HOST_FN std::uint32_t surplus_bits(std::uint32_t word, std::uint32_t capacity) {
    const std::uint32_t in_word = capacity - word * 32;  // at least 1
    return in_word >= 32 ? 0u : ~0u << in_word;
  }
};

struct Layout {
  // The active table has an entry for each log2 of a block size: the index of a superblock, `empty`, or `busy` while
  // one thread prepares the next superblock.
  static constexpr std::uint32_t entries = 32;
  static constexpr std::uint32_t empty = 0xffffffffu;
  static constexpr std::uint32_t busy = 0xfffffffeu;

  SuperblockArray superblocks;
  SuperblockQueue unused;
  std::uint32_t* active = nullptr;
  RequestLimit limit;

  static std::size_t max_request(const Parameters& parameters) { return parameters.superblock_bytes / 2; }

  // `name` is the name of the allocator, for messages. `least_log2` is log2 of its smallest block.
  static Layout of_arena(Arena& arena, const Parameters& parameters, std::string_view name,
                         std::uint32_t least_log2 = SuperblockArray::least_log2) {
    const Pool pool = arena.pool();
    const std::size_t count = pool.bytes / parameters.superblock_bytes;
    if (count < 2) {
      throw Unsupported(std::string(name) + " needs a pool of at least two superblocks, " +
                        std::to_string(2 * parameters.superblock_bytes) + " bytes");
    }
    if (count >= busy || pool.bytes >> 9 > UINT32_MAX) {
      throw Unsupported(std::string(name) +
                        " numbers superblocks with 32 bits: use a smaller pool or larger superblock_bytes");
    }
    Layout layout;
    layout.superblocks.base = pool.base;
    layout.superblocks.states = arena.metadata<std::uint64_t>(count);
    layout.superblocks.count = static_cast<std::uint32_t>(count);
    layout.superblocks.bytes_log2 = static_cast<std::uint32_t>(std::countr_zero(parameters.superblock_bytes));
    if (layout.superblocks.capacity(least_log2) > SuperblockArray::most_blocks) {
      throw Unsupported(std::string(name) + " counts at most 65535 blocks of " + std::to_string(1u << least_log2) +
                        " bytes in a superblock: use smaller superblock_bytes");
    }
    layout.unused = SuperblockQueue(arena.metadata<SuperblockQueue::Ends>(1), arena.metadata<std::uint64_t>(count));
    layout.active = arena.metadata<std::uint32_t>(entries);
    layout.limit.bytes = max_request(parameters);
    return layout;
  }

  // Marks every superblock as unused and empties the active table. Every thread of a grid calls this function.
  template <class Thread>
  SIMT_FN void clear(Thread& thread, std::uint64_t unused_state) const {
    for (std::uint32_t i = thread.rank_in_grid(); i < superblocks.count; i += thread.grid_size()) {
      superblocks.state(thread, i).store(unused_state, simt::relaxed);
    }
    for (std::uint32_t i = thread.rank_in_grid(); i < entries; i += thread.grid_size()) {
      thread.atomic(active[i]).store(empty, simt::relaxed);
    }
  }
};

struct Initialise {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, Layout layout, std::uint64_t unused_state) const {
    layout.clear(thread, unused_state);
    layout.unused.fill(thread, layout.superblocks.count);
  }
};

struct InitialiseByOneThread {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, Layout layout, std::uint64_t unused_state) const {
    layout.clear(thread, unused_state);
    layout.unused.enqueue_all(thread, layout.superblocks.count);
  }
};

// Initialises the heap by a kernel of one thread, as published (section 5.3).
inline void initialise_by_one_thread(simt::Stream& stream, const Layout& layout, std::uint64_t unused_state) {
  simt::launch(stream, {1, 1}, InitialiseByOneThread{}, layout, unused_state);
}

// Initialises the heap by a kernel of many threads.
inline void initialise(simt::Stream& stream, const Layout& layout, std::uint64_t unused_state) {
  constexpr std::uint32_t threads = 256;
  const std::uint32_t blocks = std::min((layout.superblocks.count + threads - 1) / threads, 4096u);
  simt::launch(stream, {blocks, threads}, Initialise{}, layout, unused_state);
}

}  // namespace allocbench::kma
