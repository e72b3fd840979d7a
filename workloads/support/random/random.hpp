// These functions make counter-based random numbers. A value depends only on (seed, stream, index, sub_index), so the
// sequence is the same for every back end, device and number of threads. The generator is Philox4x32-10 (Salmon et al.,
// SC'11) from Random123.
//
// All draws happen outside of timed phases, most of them on the host (workloads/support/random/philox.hpp is for
// kernels). Timed kernels read the drawn values, so they contain the allocator and no generator.
#pragma once

#include <cstdint>

#include "simt/common.hpp"

namespace allocbench {

// Independent sequences of one seed. The values enter the results, so a new sequence must get a value not yet used.
enum class RandomStream : std::uint32_t {
  request_sizes = 1,
  probability_steps = 2,
  participants = 10,
  edge_list = 20,
  vertex_order = 21,
  arc_order = 22,
  points = 23,
  graph_updates = 24,
  scene = 30,
  join_order = 40,
  join_probe = 41,
  group_keys = 42,
  ageing = 50,
  churn = 51,
  recovery = 52,
  hand_over = 53,
  string_rows = 60,
  particle_cells = 61,
  index_operations = 62
};

// random_words() returns four uniform words for (seed, stream, index, sub_index).
struct RandomWords {
  std::uint32_t words[4];
};
RandomWords random_words(std::uint64_t seed, RandomStream stream, std::uint64_t index, std::uint32_t sub_index = 0);

// Maps a word onto [0, bound) by multiplication. The bias is below bound / 2^32.
SIMT_HOST_FN std::uint32_t scale_to(std::uint32_t word, std::uint32_t bound) {
  return static_cast<std::uint32_t>((static_cast<std::uint64_t>(word) * bound) >> 32);
}

// Maps a word to a number below `bound`. The probability of k is proportional to the integral of x^-exponent from k + 1
// to k + 2.
std::uint32_t draw_zipf(std::uint32_t word, std::uint32_t bound, double exponent);

// Returns a number of the standard normal distribution from two words (Box and Muller 1958).
double draw_normal(std::uint32_t word, std::uint32_t other_word);

// Maps a word onto [0, 1).
inline double unit_interval(std::uint32_t word) { return static_cast<double>(word) * 0x1p-32; }

}  // namespace allocbench
