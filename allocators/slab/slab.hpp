// Slab serves slabs of 128 bytes. A block is a group of slabs with one bitmap. The lanes of a tile (a warp or half a
// warp) search together in the bitmap of a block.
//
// Source: the allocator of IndexinGPU (Carnegie Mellon, 2026: read-me and headers of its public code; no paper). It
// follows SlabAlloc (Ashkiani, Farach-Colton & Owens, A Dynamic Hash Table for the GPU, IPDPS 2018, section 5).
//
// Idea:
// * malloc: A tile of 32 lanes has a resident block of 1,024 slabs, where it searches first. Each lane loads one of the
//   32 words of the block's bitmap. A ballot finds the first lane that sees a free slab, and this lane takes it by an
//   atomic OR. Quadratic probing finds another block when this block is full.
// * free: One atomic AND frees a slab.
//
// Data: The bitmap has one bit per slab (1 means taken), so a block of 1,024 slabs has 128 bytes of bitmap. Tiles of 16
// lanes load words of 64 bits. A table has the number of the resident block of each tile.
//
// Sessions (allocators/support/contract/session.hpp): The table keeps the resident blocks of the first `most_tiles`
// tiles from kernel to kernel. The number of a tile's first resident block is the tile's number * 0x9e3779b1 (in 32
// bits), modulo the number of blocks.
//
// Differs from the source:
// * A call of the source is one request of a whole tile. Here each lane makes its own request. The lanes of a tile that
//   call together serve their requests one after the other. They also load the words of lanes that do not call, and a
//   lane stops at the first word with a free slab.
// * After probing every block, malloc returns null. In the source the probing never ends in a full pool.
// * Assumed: Probe i goes i places further than the last probe, modulo the number of blocks rounded up to a power of
//   two. Numbers without a block are skipped. So a search sees every block once.
// * Pointers replace handles of 32 bits. A second free of a slab is not detected. The source has an assertion for this.
// * We chose the memory orders: the AND of a free releases the slab, and the OR of a malloc acquires it.
#pragma once

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "allocators/support/common/request.hpp"
#include "allocators/support/common/tiles.hpp"
#include "allocators/support/contract/allocator.hpp"

namespace allocbench {
namespace slab {

inline constexpr std::uint32_t slab_bytes = 128;
inline constexpr std::uint32_t no_block = 0xffffffffu;

struct Parameters {
  std::uint32_t tile_lanes = 32;
  std::uint32_t block_slabs = 1024;
  std::uint32_t most_tiles = 1 << 20;

  static auto fields() {
    using P = Parameters;
    return std::tuple{Field{"tile_lanes", &P::tile_lanes, "", "lanes that share a resident block", "public code"}
                          .between(16, 32)
                          .powers_of_two(),
                      Field{"block_slabs", &P::block_slabs, "",
                            "slabs of a block; fewer than 1024 leave lanes without a word", "public code"}
                          .between(64, 1024)
                          .powers_of_two(),
                      Field{"most_tiles", &P::most_tiles, "",
                            "tiles whose resident block outlives a kernel; the others begin anew", "session"}
                          .between(1, 1 << 24)};
  }
};

struct Resident {
  std::uint32_t block_plus_one;  // number of the resident block plus 1; 0 if there is none yet
};

struct Slabs {
  std::byte* base = nullptr;
  std::uint64_t* bits = nullptr;
  std::uint32_t count = 0;       // number of slabs
  std::uint32_t blocks = 0;      // number of blocks; the last one may be incomplete
  std::uint32_t block_log2 = 0;  // log2 of the slabs of a block
  std::uint32_t probes = 0;      // number of blocks, rounded up to a power of two

  SIMT_HOST_FN std::size_t words() const { return std::size_t{blocks} << (block_log2 - 6); }
};

// Session is the state of a lane during a kernel. All lanes of a tile that call together have the same resident block.
class Session {
 public:
  SIMT_FN Session(const Slabs& slabs, Tiles tiles, Resident* resident, std::uint32_t first)
      : slabs_(slabs), tiles_(tiles), resident_(resident), block_(first) {}

  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t bytes) {
    if (RequestLimit{slab_bytes}.refuses(bytes)) return nullptr;
    return tiles_.lanes_log2 == 5 ? serve<std::uint32_t>(thread) : serve<std::uint64_t>(thread);
  }

  template <class Thread>
  SIMT_FN void free(Thread& thread, void* block) {
    if (block == nullptr) return;
    const auto offset = static_cast<std::size_t>(static_cast<std::byte*>(block) - slabs_.base);
    const auto slab = static_cast<std::uint32_t>(offset / slab_bytes);
    // free() uses words of the same width as malloc(), because atomics of two widths on the same bytes are undefined.
    tiles_.lanes_log2 == 5 ? clear<std::uint32_t>(thread, slab) : clear<std::uint64_t>(thread, slab);
  }

  template <class Thread>
  SIMT_FN void detach(Thread& thread) {
    if (resident_ != nullptr) thread.atomic(resident_->block_plus_one).store(block_ + 1, simt::relaxed);
  }

 private:
  template <class Word, class Thread>
  SIMT_FN void clear(Thread& thread, std::uint32_t slab) const {
    constexpr std::uint32_t width = sizeof(Word) * 8;
    auto* const words = reinterpret_cast<Word*>(slabs_.bits);
    thread.atomic(words[slab / width]).fetch_and(~(Word{1} << slab % width), simt::release);
  }

  // Serves the requests of the converged lanes, one after the other.
  template <class Word, class Thread>
  SIMT_FN void* serve(Thread& thread) {
    const auto tile = tiles_.converged(thread);
    block_ = tile.broadcast(block_);
    void* mine = nullptr;
    SIMT_ROLLED
    for (std::uint32_t rank = 0; rank < tile.num_threads(); ++rank) {
      const std::uint32_t slab = take<Word>(thread, tile);
      if (slab == no_block) break;
      if (tile.thread_rank() == rank) mine = slabs_.base + std::size_t{slab} * slab_bytes;
    }
    tile.sync();  // the acquire of the lane that took a slab covers all lanes
    return mine;
  }

  // All lanes of the group take one slab together. Returns no_block if all blocks are full.
  template <class Word, class Thread, class Group>
  SIMT_FN std::uint32_t take(Thread& thread, const Group& tile) {
    std::uint32_t place = block_;
    SIMT_ROLLED
    for (std::uint32_t probe = 1; probe <= slabs_.probes; ++probe) {
      if (place < slabs_.blocks) {
        const std::uint32_t slab = take_from<Word>(thread, tile, place);
        if (slab != no_block) {
          block_ = place;
          return slab;
        }
        thread.probe(simt::Step::walk);
      }
      place = (place + probe) & (slabs_.probes - 1);
    }
    return no_block;
  }

  // Takes a slab of this block. The first lane that sees a free slab takes it. If another thread was faster, all lanes
  // search again. Returns no_block if the block is full.
  template <class Word, class Thread, class Group>
  SIMT_FN std::uint32_t take_from(Thread& thread, const Group& tile, std::uint32_t block) const {
    constexpr std::uint32_t width_log2 = sizeof(Word) == 8 ? 6 : 5;
    auto* const words = reinterpret_cast<Word*>(slabs_.bits + (std::size_t{block} << (slabs_.block_log2 - 6)));
    const std::uint32_t count = 1u << (slabs_.block_log2 - width_log2);
    for (;;) {
      Word seen = ~Word{0};
      std::uint32_t word = tile.thread_rank();
      for (; word < count; word += tile.num_threads()) {
        seen = thread.atomic(words[word]).load(simt::relaxed);
        if (seen != ~Word{0}) break;
      }
      const simt::LaneMask found = tile.ballot(seen != ~Word{0});
      if (found == 0) return no_block;
      const std::uint32_t winner = simt::count_trailing_zeros(found);
      std::uint32_t slab = no_block;
      if (thread.lane() == winner) {
        const std::uint32_t bit = simt::count_trailing_zeros(static_cast<Word>(~seen));
        const Word before = thread.atomic(words[word]).fetch_or(Word{1} << bit, simt::acquire);
        if ((before >> bit & 1) == 0) slab = (block << slabs_.block_log2) + (word << width_log2) + bit;
      }
      slab = tile.shfl_lane(slab, winner);
      if (slab != no_block) return slab;
      thread.probe(simt::Step::retry);
    }
  }

  Slabs slabs_;
  Tiles tiles_;
  Resident* resident_;
  std::uint32_t block_;
};

// Makes all slabs free, and sets the bits beyond the last slab.
struct PrepareSlabs {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, Slabs slabs) const {
    for (std::size_t word = thread.rank_in_grid(); word < slabs.words(); word += thread.grid_size()) {
      const std::uint64_t first = word * 64;
      const std::uint64_t left = first < slabs.count ? slabs.count - first : 0;
      slabs.bits[word] = left >= 64 ? 0 : ~std::uint64_t{0} << left;
    }
  }
};

}  // namespace slab

class Slab {
 public:
  using Parameters = slab::Parameters;

  static constexpr Traits traits{.name = "slab",
                                 .display_name = "Slab",
                                 .paper = "IndexinGPU 2026; Ashkiani et al. 2018, sec. 5",
                                 .summary =
                                     "blocks of 128 bytes: a tile of lanes loads the bitmap of its resident block, one "
                                     "lane takes a bit",
                                 .form = Form::published,
                                 .one_block_size = true};

  static std::size_t max_request(std::size_t, const Parameters&) { return slab::slab_bytes; }
  // The pool has one and a half blocks.
  static SmallHeap<Parameters> small_heap() { return {96 * slab::slab_bytes, {.block_slabs = 64, .most_tiles = 16}}; }

  static Slab create(Arena& arena, const Parameters& parameters) {
    const std::size_t count = arena.pool_bytes() / slab::slab_bytes;
    if (count == 0 || count > most_slabs) {
      throw Unsupported("slab needs a pool of 1 to " + std::to_string(most_slabs) + " slabs of 128 bytes");
    }
    Slab allocator;
    slab::Slabs& slabs = allocator.slabs_;
    slabs.base = arena.pool().base;
    slabs.count = static_cast<std::uint32_t>(count);
    slabs.block_log2 = simt::count_trailing_zeros(parameters.block_slabs);
    slabs.blocks = (slabs.count + parameters.block_slabs - 1) >> slabs.block_log2;
    slabs.probes = std::bit_ceil(slabs.blocks);
    slabs.bits = arena.metadata<std::uint64_t>(slabs.words());
    const Tiles tiles{static_cast<std::uint32_t>(parameters.tile_lanes == 32 ? 5 : 4)};
    allocator.residents_ = TileTable<slab::Resident>::create(arena, tiles, parameters.most_tiles);
    allocator.reset(arena.stream());
    return allocator;
  }

  void reset(simt::Stream& stream) {
    residents_.reset(stream);
    const auto blocks = static_cast<std::uint32_t>(std::clamp<std::size_t>(slabs_.words() / 256, 1, 1024));
    simt::launch(stream, {blocks, 128}, slab::PrepareSlabs{}, slabs_);
  }

  template <class Thread>
  SIMT_FN slab::Session attach(Thread& thread) {
    slab::Resident* const resident = residents_.find(thread);
    std::uint32_t block = 0;
    if (resident != nullptr) block = thread.atomic(resident->block_plus_one).load(simt::relaxed);
    block = block != 0 ? block - 1 : residents_.tiles.number(thread) * 0x9e3779b1u % slabs_.blocks;
    return {slabs_, residents_.tiles, resident, block};
  }

  // Checks on the host, while no kernel runs, that bits beyond the last slab are set. Returns an empty text if they
  // are.
  std::string broken_invariant(simt::Stream& stream) const {
    std::vector<std::uint64_t> bits(slabs_.words());
    simt::copy_to_host(stream, bits.data(), slabs_.bits, bits.size() * sizeof bits[0]);
    for (std::size_t slab = slabs_.count; slab < bits.size() * 64; ++slab) {
      if ((bits[slab / 64] >> slab % 64 & 1) == 0)
        return "slab " + std::to_string(slab) + " does not exist and is free";
    }
    return {};
  }

 private:
  static constexpr std::size_t most_slabs = std::size_t{1} << 31;

  slab::Slabs slabs_;
  TileTable<slab::Resident> residents_;
};

}  // namespace allocbench

ALLOCBENCH_REGISTER(slab, Slab)
