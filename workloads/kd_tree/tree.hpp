// These types are the finished tree in device memory, statistics of the requests, and a digest for comparisons of
// trees.
#pragma once

#include <cstdint>

#include "simt/bits.hpp"

namespace allocbench::kd_tree {

// The bounding box of a triangle. A thread reads it with two loads of 16 bytes.
struct alignas(16) TriangleBox {
  float low[3];
  std::uint32_t unused_low = 0;
  float high[3];
  std::uint32_t unused_high = 0;
};
static_assert(sizeof(TriangleBox) == 32);

// A node of eight bytes. Siblings lie side by side, the left one at an even index. The root has index 0; index 1 is
// unused.
struct alignas(8) Node {
  static constexpr std::uint32_t leaf = 32;  // a number that no plane has
  static constexpr std::uint32_t plane_bits = 6;
  static constexpr std::uint32_t most_first = (1u << (32 - plane_bits)) - 1;

  std::uint32_t first_and_plane;
  std::uint32_t value;  // inner node: bits of the plane's position; leaf: number of references

  static SIMT_HOST_FN Node of(std::uint32_t plane, std::uint32_t first, std::uint32_t value) {
    return {first << plane_bits | plane, value};
  }
  SIMT_HOST_FN std::uint32_t plane() const { return first_and_plane & ((1u << plane_bits) - 1); }
  // Returns the halved index of the left child of an inner node, or the index of a leaf's first reference.
  SIMT_HOST_FN std::uint32_t first() const { return first_and_plane >> plane_bits; }
};
static_assert(sizeof(Node) == 8);

// Statistics of the requests. Sizes are those of the lists, without padding.
struct RequestStatistics {
  std::uint64_t mallocs = 0;
  std::uint64_t bytes = 0;
  std::uint64_t squares = 0;          // sum of the squared sizes in bytes
  std::uint64_t wrapped_squares = 0;  // sum of the squares modulo 2^32

  SIMT_HOST_FN void add(std::uint64_t size) {
    ++mallocs;
    bytes += size;
    squares += size * size;
    wrapped_squares += static_cast<std::uint32_t>(size * size);
  }
  double mean() const;
  double deviation() const;
  // Returns the deviation computed from overflowed squares. This is the value in table 2 of Vinkler & Havran 2015. If
  // every split of a scene of N triangles halves its list, the squares of all sizes sum up to (4 N)^2. So the true
  // deviation is about 4 N / sqrt(mallocs).
  double wrapped_deviation() const;
  friend bool operator==(const RequestStatistics&, const RequestStatistics&) = default;
};

// A digest that does not depend on the order of nodes and of the references in a leaf. Two different trees have the
// same digest with a probability of about 2^-64.
struct TreeDigest {
  std::uint64_t hash = 0;
  std::uint64_t leaves = 0;
  std::uint64_t inner = 0;
  std::uint64_t references = 0;
  friend bool operator==(const TreeDigest&, const TreeDigest&) = default;
};

// The path of the root. A path names a node by its turns from the root: a 1, then a bit per level; 1 means right.
inline constexpr std::uint64_t root_path = 1;
SIMT_HOST_FN constexpr std::uint64_t child_path(std::uint64_t path, std::uint32_t side) { return path << 1 | side; }

// Permutes the 64-bit words pseudo-randomly: the finaliser of SplitMix64 (Steele, Lea & Flood, OOPSLA 2014).
SIMT_HOST_FN constexpr std::uint64_t scatter(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}
SIMT_HOST_FN constexpr std::uint64_t reference_hash(std::uint32_t triangle) { return scatter(triangle); }
SIMT_HOST_FN constexpr std::uint64_t leaf_hash(std::uint64_t path, std::uint32_t count, std::uint64_t references) {
  return scatter(scatter(path) + scatter(references + count));
}
SIMT_HOST_FN constexpr std::uint64_t inner_hash(std::uint64_t path, std::uint32_t plane, std::uint32_t position_bits) {
  return scatter(scatter(path) ^ (std::uint64_t{plane} << 32 | position_bits));
}

}  // namespace allocbench::kd_tree
