// SizeClasses holds the sixteen block sizes of Halloc, their chunks, and the hash that spreads blocks over a slab.
//
// Adinetz & Pleiter 2014. Sizes are 2u and 3u for u = 8, 16, ..., 1024. Size 0 has 16 B, size 1 has 24 B, size 2 has 32
// B, and size 15 has 3072 B. A block is 1, 2, 4 or 8 chunks. There are four chunk sizes, the "kinds": 16, 24, 256 and
// 384 bytes. A slab in use may change its block size, but only an empty slab may change its kind.
//
//   h(c, 0) = b (floor(c / K) K T + c mod K) mod N
//   h(c, i) = h(c, 0) + i (i b S mod s) mod N
//
// Here c is the allocation counter of the size, b the chunks of a block, N the chunks of a slab, T = 11 and S = 64. K
// is 4, 2 or 1: this many consecutive counter values hit neighbouring blocks. With n blocks per slab, s is b times the
// largest prime below n/256 + n/64 that divides neither this sum nor n.
//
// N is rounded down to a multiple of 8. All sizes of a kind have the same N.
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
// Returns log2 of the chunks of a block.
SIMT_HOST_FN std::uint32_t block_log(std::uint32_t id) { return id >> 1 & 3; }
SIMT_HOST_FN std::uint32_t chunk_bytes(std::uint32_t kind) { return (kind & 1 ? 24u : 16u) << (kind & 2) * 2; }
SIMT_HOST_FN std::uint32_t block_bytes(std::uint32_t id) { return chunk_bytes(kind_of(id)) << block_log(id); }
// Returns log2 of K.
SIMT_HOST_FN std::uint32_t neighbours_log(std::uint32_t id) { return id < 4 ? 2 - (id >> 1) : 0; }

// Returns the smallest size for a request, which has at most 3072 bytes. Skips blocks of 24 bytes, whose addresses
// would be multiples of 8 only.
SIMT_HOST_FN std::uint32_t size_id(std::uint32_t bytes) {
  const std::uint32_t top = (bytes < 16 ? 16 : bytes) - 1;
  const std::uint32_t log = 31 - simt::count_leading_zeros(top);  // the block is 1.5 or 2 times 2^log
  const std::uint32_t three = top >> (log - 1) & 1 ? 0u : 1u;
  const std::uint32_t id = 2 * (log - 3) - three;
  return id == 1 ? 2 : id;
}

// These functions convert between the index of a chunk and its offset in the slab.
SIMT_HOST_FN std::uint32_t offset_of_chunk(std::uint32_t kind, std::uint32_t chunk) {
  return chunk * chunk_bytes(kind);
}
SIMT_HOST_FN std::uint32_t chunk_of_offset(std::uint32_t kind, std::uint32_t offset) {
  const std::uint32_t sixteenths = offset >> (4 + (kind & 2) * 2);           // units of 16 or 256 bytes
  const std::uint32_t eighths = offset >> (3 + (kind & 2) * 2);              // units of 8 or 128 bytes
  return kind & 1 ? simt::multiply_high(eighths, 0x55555556u) : sixteenths;  // divides by three; exact below 2^31
}

// Thresholds of a slab are numbers of chunks. They are computed from shares of N.
struct Thresholds {
  std::uint32_t busy = 0;     // chunks in use from which a head is replaced
  std::uint32_t roomy = 0;    // most chunks in use with which a slab may be a head again
  std::uint32_t sparse = 0;   // most chunks in use with which a slab may also change its block size
  std::uint32_t crammed = 0;  // chunks in use above which no search finds the slab; half way between busy and full
};

// SizeClasses has the values that follow from the slab size and the shares.
struct SizeClasses {
  Modulo chunks_16, chunks_24, chunks_256, chunks_384;              // N of each kind, prepared for divisions
  std::uint32_t busy_share = 0, roomy_share = 0, sparse_share = 0;  // shares in units of 2^-32, rounded up

  static SizeClasses of_slab(std::uint64_t slab_bytes, double busy, double roomy, double sparse) {
    const auto chunks = [&](std::uint32_t kind) {
      const auto fitting = static_cast<std::uint32_t>(slab_bytes / chunk_bytes(kind) / 8 * 8);
      return fitting == 0 ? Modulo(1) : Modulo(fitting);  // 1 if no block fits
    };
    const auto share = [](double fraction) {
      const double scaled = fraction * 4294967296.0;
      const auto rounded = static_cast<std::uint64_t>(scaled) + 1;
      return static_cast<std::uint32_t>(rounded < 0xffffffffu ? rounded : 0xffffffffu);
    };
    return {chunks(0), chunks(1), chunks(2), chunks(3), share(busy), share(roomy), share(sparse)};
  }

  // Selects by the kind, because an array in kernel parameters with a run-time index would move to local memory.
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

  // Returns the largest request that slabs serve, in bytes. Slabs with fewer than eight chunks of 384 bytes serve only
  // blocks of up to eight small chunks.
  std::uint32_t largest_request() const { return chunks_384.divisor() >= 8 ? largest_block : block_bytes(7); }

  // Returns h(c, 0) as a chunk index.
  SIMT_HOST_FN std::uint32_t first_probe(std::uint32_t id, std::uint32_t counter,
                                         std::uint32_t spread = published_spread) const {
    const std::uint32_t k_log = neighbours_log(id);
    const std::uint32_t group = counter >> k_log << k_log;
    return chunks(kind_of(id))((group * spread + (counter - group)) << block_log(id));
  }
  // Returns h(c, i) from h(c, 0). `step` is hash_step(id, ...).
  SIMT_HOST_FN std::uint32_t next_probe(std::uint32_t id, std::uint32_t first, std::uint32_t i, std::uint32_t step,
                                        std::uint32_t stretch = published_stretch) const {
    const std::uint32_t distance = step == 0 ? i << block_log(id) : i * (((i * stretch) << block_log(id)) % step);
    return chunks(kind_of(id))(first + distance);
  }
};

// Returns s for slabs of this many chunks. Returns 0 if a slab is too small for such a prime. The hash then probes the
// slab block by block.
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
