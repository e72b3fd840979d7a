// Kokkos::MemoryPool has superblocks of equal power-of-two blocks, a counted bitset for each, and a hint per block
// size.
//
// Code: Kokkos 28848df (June 2025), core/src/Kokkos_MemoryPool.hpp, the second version of the pool (Kokkos issue 452).
// There is no paper. The authors call the pool an implementation detail of Kokkos tasks (issue 5794).
//
// Idea: Every lane works for itself.
// * malloc: A request is rounded up to a power of two. The lane tries the superblock in the hint of this size: it adds
//   one to the superblock's count and searches for a bit by ORs. The clock and the lane select where this search
//   begins. If the lane gets no block, it scans the superblocks, beginning with the range of its size. It takes the
//   first superblock of its size that is not full. If there is none, it gives its size to the first empty superblock by
//   a compare-exchange. Without an empty superblock, it takes the first superblock of a larger size that is not full.
// * free: A lane clears the bit, then lowers the count.
//
// Data: superblock.hpp describes the superblocks. Each block size has two words: the superblock to try first and the
// first superblock of its range. At the start, the numbers of superblocks of any two sizes differ by at most one. A
// superblock changes its size only while it is empty.
//
// Differs from the code:
// * Memory orders replace fences (superblock.hpp).
// * A request above the largest block gets null, and a free of anything but a block in use does nothing. In the code,
//   both end the program.
// * A request gets null after 64 tries plus two per superblock. In the code it may go on forever.
// * The states and hints of superblocks lie outside the pool, so the pool contains only superblocks. Blocks of up to
//   256 bytes are therefore aligned to their size. In the authors' code the superblocks follow the states in the pool,
//   and blocks are aligned to 32 bytes.
//
// As published: With attempts = 1, the default, malloc may return null although blocks are free. If the superblock of
// the hint is full, each lane that tries it scans the superblocks until it finds one of its size that is not full
// (docs/findings.md). By default, a request of 16 bytes takes 64.
#pragma once

#include <string>

#include "allocators/kokkos_memory_pool/inspect.hpp"
#include "allocators/kokkos_memory_pool/parameters.hpp"
#include "allocators/kokkos_memory_pool/superblock.hpp"
#include "allocators/support/common/request.hpp"
#include "allocators/support/contract/allocator.hpp"

namespace allocbench {
namespace kokkos {

struct Hint {
  std::uint32_t superblock;  // superblock to try first
  std::uint32_t begin;       // begin of the size's own range, where scans begin
};

// Divides the superblocks among the block sizes. A superblock with the smallest blocks has 2^most_log2 blocks.
struct PreparePool {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, Superblocks superblocks, Hint* hints, std::uint32_t sizes,
                          std::uint32_t most_log2) const {
    const std::uint32_t me = thread.rank_in_grid();
    for (std::uint32_t size = 0; size < sizes; ++size) {
      const auto begin = static_cast<std::uint32_t>(std::uint64_t{size} * superblocks.count / sizes);
      const auto end = static_cast<std::uint32_t>((size + std::uint64_t{1}) * superblocks.count / sizes);
      for (std::uint32_t i = begin + me; i < end; i += thread.grid_size()) {
        thread.atomic(superblocks.state(i)).store(SuperblockState::empty(most_log2 - size).word, simt::relaxed);
      }
      if (me == 0) {
        thread.atomic(hints[size].superblock).store(begin, simt::relaxed);
        thread.atomic(hints[size].begin).store(begin, simt::relaxed);
      }
    }
  }
};

}  // namespace kokkos

class KokkosMemoryPool {
 public:
  using Parameters = kokkos::Parameters;
  static constexpr Traits traits{.name = "kokkos_memory_pool",
                                 .display_name = "Kokkos MemoryPool",
                                 .paper = "Kokkos 28848df (2025), Kokkos_MemoryPool.hpp",
                                 .summary =
                                     "superblocks of power-of-two blocks with a counted bitset and a hint per size; "
                                     "every lane works for itself",
                                 .form = Form::published,
                                 .zero = ZeroBytes::null};

  static std::size_t max_request(std::size_t, const Parameters& parameters) { return parameters.max_block_bytes; }
  // The pool has four superblocks of 256 bytes. At the start, each of the four block sizes has one.
  static SmallHeap<Parameters> small_heap() {
    return {.pool_bytes = 1 << 10,
            .parameters = {.min_block_bytes = 16, .max_block_bytes = 128, .superblock_bytes = 256},
            .serves_new = 64};
  }
  // In this heap, a superblock may have two words of bits.
  static SmallHeap<Parameters> second_small_heap() {
    return {.pool_bytes = 3 << 10,
            .parameters = {.min_block_bytes = 16, .max_block_bytes = 256, .superblock_bytes = 1024},
            .serves_new = 192};
  }

  static KokkosMemoryPool create(Arena& arena, const Parameters& parameters);

  void reset(simt::Stream& stream) {
    simt::device_fill(stream, superblocks_.states, 0,
                      std::size_t{superblocks_.count} * superblocks_.stride * sizeof(std::uint32_t));
    constexpr std::uint32_t threads = 128;
    simt::launch(stream, {(superblocks_.count - 1) / threads + 1, threads}, kokkos::PreparePool{}, superblocks_, hints_,
                 max_log2_ - min_log2_ + 1, superblocks_.bytes_log2 - min_log2_);
  }

  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t bytes) {
    if (bytes == 0 || limit_.refuses(bytes)) return nullptr;
    const std::uint32_t log2 = log2_of(static_cast<std::uint32_t>(bytes), min_log2_);
    const std::uint32_t wanted = kokkos::SuperblockState::empty(superblocks_.bytes_log2 - log2).word;
    const std::uint32_t start = static_cast<std::uint32_t>(thread.clock()) + thread.rank_in_block();
    kokkos::Hint& size = hints_[log2 - min_log2_];
    Candidate candidate{kokkos::no_superblock, wanted};
    std::uint32_t attempts = attempts_;
    std::uint32_t rounds = 64 + 2 * superblocks_.count;
    SIMT_ROLLED
    while (attempts != 0 && rounds-- != 0) {
      std::uint32_t hint = kokkos::no_superblock;  // superblock of the hint in this round
      if (candidate.superblock == kokkos::no_superblock) {
        hint = thread.atomic(size.superblock).load(simt::relaxed);
        candidate.superblock = hint;
      }
      const kokkos::SuperblockState seen{thread.atomic(superblocks_.state(candidate.superblock)).load(simt::relaxed)};
      if (seen.header() == candidate.header) {
        const std::uint32_t block = superblocks_.claim(thread, candidate.superblock, candidate.header, start);
        if (block != kokkos::no_block) {
          return superblocks_.address(candidate.superblock, block, superblocks_.bytes_log2 - seen.blocks_log2());
        }
      }
      bool moves_hint = false;
      candidate = find(thread, size, wanted, moves_hint);
      if (candidate.superblock == kokkos::no_superblock) --attempts;
      if (moves_hint) {
        thread.atomic(size.superblock).compare_exchange(hint, candidate.superblock, simt::relaxed, simt::relaxed);
      }
    }
    return nullptr;
  }

  template <class Thread>
  SIMT_FN void free(Thread& thread, void* block) {
    if (block == nullptr) return;
    const auto offset = static_cast<std::size_t>(static_cast<std::byte*>(block) - superblocks_.base);
    const std::size_t superblock = offset >> superblocks_.bytes_log2;
    if (superblock >= superblocks_.count) return;
    const auto index = static_cast<std::uint32_t>(superblock);
    // The header does not change while the block is in use.
    const kokkos::SuperblockState state{thread.atomic(superblocks_.state(index)).load(simt::relaxed)};
    const std::uint32_t block_log2 = superblocks_.bytes_log2 - state.blocks_log2();
    const auto inside = static_cast<std::uint32_t>(offset & ((std::size_t{1} << superblocks_.bytes_log2) - 1));
    if ((inside & ((1u << block_log2) - 1)) != 0) return;
    superblocks_.release(thread, index, inside >> block_log2);
  }

  std::string broken_invariant(simt::Stream& stream) const {
    return kokkos::broken_superblock(stream, superblocks_, max_log2_);
  }

  const kokkos::Superblocks& superblocks() const { return superblocks_; }

 private:
  // Candidate is a superblock with the header that a claim expects.
  struct Candidate {
    std::uint32_t superblock;
    std::uint32_t header;
  };

  // Scans the superblocks once and returns one to try, or no_superblock. Sets `moves_hint` if this superblock has the
  // size and will have room after this claim, or if this call gave it the size.
  template <class Thread>
  SIMT_FN Candidate find(Thread& thread, kokkos::Hint& size, std::uint32_t wanted, bool& moves_hint) const {
    const std::uint32_t blocks = kokkos::SuperblockState{wanted}.blocks();
    std::uint32_t empty = kokkos::no_superblock;
    std::uint32_t empty_header = 0;
    Candidate larger{kokkos::no_superblock, wanted};
    std::uint32_t superblock = thread.atomic(size.begin).load(simt::relaxed);
    SIMT_ROLLED
    for (std::uint32_t i = 0; i < superblocks_.count; ++i) {
      const kokkos::SuperblockState state{thread.atomic(superblocks_.state(superblock)).load(simt::relaxed)};
      thread.probe(simt::Step::walk);
      if (state.header() == wanted) {
        if (state.used() < blocks) {
          moves_hint = state.used() + 1 < blocks;
          return {superblock, wanted};
        }
      } else if (state.used() == 0) {
        if (empty == kokkos::no_superblock) {
          empty = superblock;
          empty_header = state.header();
        }
      } else if (empty == kokkos::no_superblock && larger.superblock == kokkos::no_superblock &&
                 state.header() < wanted && state.used() < state.blocks()) {
        larger = {superblock, state.header()};
      }
      if (++superblock == superblocks_.count) superblock = 0;
    }
    if (empty == kokkos::no_superblock) return larger;
    // The superblock is tried even if another lane was faster, because that lane may have given it the same size.
    moves_hint =
        thread.atomic(superblocks_.state(empty)).compare_exchange(empty_header, wanted, simt::acq_rel, simt::relaxed);
    return {empty, wanted};
  }

  kokkos::Superblocks superblocks_;
  kokkos::Hint* hints_ = nullptr;
  RequestLimit limit_;
  std::uint32_t min_log2_ = 0;
  std::uint32_t max_log2_ = 0;
  std::uint32_t attempts_ = 1;
};

inline KokkosMemoryPool KokkosMemoryPool::create(Arena& arena, const Parameters& parameters) {
  parameters.check();
  const std::size_t count = arena.pool_bytes() / parameters.superblock_bytes;
  if (count == 0 || count > 0x7fffffffu) {
    throw Unsupported("kokkos_memory_pool needs a pool of at least superblock_bytes (" +
                      std::to_string(parameters.superblock_bytes) + " bytes)");
  }
  KokkosMemoryPool allocator;
  kokkos::Superblocks& superblocks = allocator.superblocks_;
  superblocks.base = arena.pool().base;
  superblocks.count = static_cast<std::uint32_t>(count);
  superblocks.bytes_log2 = simt::count_trailing_zeros(parameters.superblock_bytes);
  allocator.min_log2_ = simt::count_trailing_zeros(parameters.min_block_bytes);
  allocator.max_log2_ = simt::count_trailing_zeros(parameters.max_block_bytes);
  superblocks.stride = kokkos::Superblocks::stride_of(superblocks.bytes_log2 - allocator.min_log2_);
  superblocks.states = arena.metadata<std::uint32_t>(count * superblocks.stride);
  allocator.hints_ = arena.metadata<kokkos::Hint>(allocator.max_log2_ - allocator.min_log2_ + 1);
  allocator.limit_.bytes = parameters.max_block_bytes;
  allocator.attempts_ = parameters.attempts;
  allocator.reset(arena.stream());
  return allocator;
}

}  // namespace allocbench

ALLOCBENCH_REGISTER(kokkos_memory_pool, KokkosMemoryPool)
