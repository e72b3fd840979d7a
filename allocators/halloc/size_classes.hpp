// The sixteen block sizes of Halloc, their chunks, and the hash that spreads blocks over a slab.
//
// Adinetz & Pleiter 2014. Sizes are 2u and 3u for u = 8, 16, ..., 1024: ids 0 (16 B), 1 (24 B), 2 (32 B) ... 15
// (3072 B). A block is 1, 2, 4 or 8 chunks. There are four chunk sizes, the "kinds": 16, 24, 256 and 384 bytes. A slab
// in use may change its block size; only an empty slab may change its kind.
//
//   hash   h(c, 0) = b (floor(c / K) K T + c mod K) mod N
//          h(c, i) = h(c, 0) + i (i b S mod s) mod N
//          c: allocation counter of the size, b: chunks of a block, N: chunks of a slab, T = 11, S = 64
//   K      4, 2 or 1: this many consecutive counter values hit neighbouring blocks
//   s      b times the largest prime below n/256 + n/64 that divides neither that sum nor n, the blocks of a slab
//
// N is rounded down to a multiple of 8, for all sizes of a kind alike.
#pragma once

#include "allocators/support/common/modulo.hpp"
#include "simt/simt.hpp"

namespace allocbench::halloc {

inline constexpr std::uint32_t size_count = 16;
inline constexpr std::uint32_t kind_count = 4;
inline constexpr std::uint32_t largest_block = 3072;
inline constexpr std::uint32_t no_slab = 0xffffffffu;

inline constexpr std::uint32_t published_spread = 11;   // T
inline constexpr std::uint32_t published_stretch = 64;  // S

SIMT_HOST_FN std::uint32_t kind_of(std::uint32_t id) { return (id >> 3) << 1 | (id & 1); }
// log2 of the chunks of a block.
SIMT_HOST_FN std::uint32_t block_log(std::uint32_t id) { return id >> 1 & 3; }
SIMT_HOST_FN std::uint32_t chunk_bytes(std::uint32_t kind) { return (kind & 1 ? 24u : 16u) << (kind & 2) * 2; }
SIMT_HOST_FN std::uint32_t block_bytes(std::uint32_t id) { return chunk_bytes(kind_of(id)) << block_log(id); }
// log2 of K.
SIMT_HOST_FN std::uint32_t neighbours_log(std::uint32_t id) { return id < 4 ? 2 - (id >> 1) : 0; }

// The smallest size that holds 0 to 3072 bytes. Without 24-byte blocks, whose addresses would be multiples of 8 only.
SIMT_HOST_FN std::uint32_t size_id(std::uint32_t bytes) {
  const std::uint32_t top = (bytes < 16 ? 16 : bytes) - 1;
  const std::uint32_t log = 31 - simt::count_leading_zeros(top);  // the block is 1.5 or 2 times 2^log
  const std::uint32_t three = top >> (log - 1) & 1 ? 0u : 1u;
  const std::uint32_t id = 2 * (log - 3) - three;
  return id == 1 ? 2 : id;
}

// Chunk index and offset within a slab, both ways.
SIMT_HOST_FN std::uint32_t offset_of_chunk(std::uint32_t kind, std::uint32_t chunk) {
  return chunk * chunk_bytes(kind);
}
SIMT_HOST_FN std::uint32_t chunk_of_offset(std::uint32_t kind, std::uint32_t offset) {
  const std::uint32_t sixteenths = offset >> (4 + (kind & 2) * 2);           // of 16 or 256 bytes
  const std::uint32_t eighths = offset >> (3 + (kind & 2) * 2);              // of 8 or 128 bytes
  return kind & 1 ? simt::multiply_high(eighths, 0x55555556u) : sixteenths;  // a third; exact below 2^31
}

// Thresholds of a slab in chunks, as shares of N.
struct Thresholds {
  std::uint32_t busy = 0;     // a head this full is replaced
  std::uint32_t roomy = 0;    // may serve as a head again
  std::uint32_t sparse = 0;   // may also change its block size
  std::uint32_t crammed = 0;  // above it no search finds the slab; half way between busy and full
};

// The classes of a pool, which follow from the slab size and the shares.
struct SizeClasses {
  Modulo chunks_16, chunks_24, chunks_256, chunks_384;              // N of each kind, ready to divide by
  std::uint32_t busy_share = 0, roomy_share = 0, sparse_share = 0;  // in 2^-32, rounded up

  static SizeClasses of_slab(std::uint64_t slab_bytes, double busy, double roomy, double sparse) {
    const auto chunks = [&](std::uint32_t kind) {
      const auto fitting = static_cast<std::uint32_t>(slab_bytes / chunk_bytes(kind) / 8 * 8);
      return fitting == 0 ? Modulo(1) : Modulo(fitting);  // 1: no block fits
    };
    const auto share = [](double fraction) {
      const double scaled = fraction * 4294967296.0;
      const auto rounded = static_cast<std::uint64_t>(scaled) + 1;
      return static_cast<std::uint32_t>(rounded < 0xffffffffu ? rounded : 0xffffffffu);
    };
    return {chunks(0), chunks(1), chunks(2), chunks(3), share(busy), share(roomy), share(sparse)};
  }

  // By selection, because an array in kernel parameters with a run-time index would move to local memory.
  SIMT_HOST_FN const Modulo chunks(std::uint32_t kind) const {
    const Modulo even = kind & 2 ? chunks_256 : chunks_16;
    const Modulo odd = kind & 2 ? chunks_384 : chunks_24;
    return kind & 1 ? odd : even;
  }
  SIMT_HOST_FN Thresholds thresholds(std::uint32_t kind) const {
    const std::uint32_t n = chunks(kind).divisor();
    const std::uint32_t busy = simt::multiply_high(n, busy_share);
    return {busy, simt::multiply_high(n, roomy_share), simt::multiply_high(n, sparse_share), (busy + n) / 2};
  }

  // Bytes of the largest request that slabs serve. Tiny slabs have blocks of up to eight small chunks only.
  std::uint32_t largest_request() const { return chunks_384.divisor() >= 8 ? largest_block : block_bytes(7); }

  // h(c, 0), as a chunk index.
  SIMT_HOST_FN std::uint32_t first_probe(std::uint32_t id, std::uint32_t counter,
                                         std::uint32_t spread = published_spread) const {
    const std::uint32_t k_log = neighbours_log(id);
    const std::uint32_t group = counter >> k_log << k_log;
    return chunks(kind_of(id))((group * spread + (counter - group)) << block_log(id));
  }
  // h(c, i) from h(c, 0); `step` is hash_step(id, ...).
  SIMT_HOST_FN std::uint32_t next_probe(std::uint32_t id, std::uint32_t first, std::uint32_t i, std::uint32_t step,
                                        std::uint32_t stretch = published_stretch) const {
    const std::uint32_t distance = step == 0 ? i << block_log(id) : i * (((i * stretch) << block_log(id)) % step);
    return chunks(kind_of(id))(first + distance);
  }
};

// s, for slabs of this many chunks. 0 for slabs too small for such a prime: they are probed block by block.
inline std::uint32_t hash_step(std::uint32_t id, std::uint32_t chunks) {
  const std::uint32_t blocks = chunks >> block_log(id);
  const std::uint32_t bound = blocks / 256 + blocks / 64;
  const auto is_prime = [](std::uint32_t x) {
    for (std::uint32_t d = 2; d * d <= x; ++d) {
      if (x % d == 0) return false;
    }
    return x >= 2;
  };
  for (std::uint32_t p = bound; p-- > 2;) {
    if (is_prime(p) && bound % p != 0 && blocks % p != 0) return p << block_log(id);
  }
  return 0;
}

}  // namespace allocbench::halloc
