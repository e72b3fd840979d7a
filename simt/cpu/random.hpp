// Random makes the scheduler's random numbers by SplitMix64 (Steele, Lea & Flood, OOPSLA 2014), with one multiply chain
// per draw. A counter-based generator would cost more than the fiber switch for which the number is drawn.
#pragma once

#include <cstdint>

namespace simt {

// Mixes one word. The function is bijective.
constexpr std::uint64_t mix64(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(mix64(seed)) {}
  std::uint64_t next() { return mix64(state_ += 0x9e3779b97f4a7c15u); }
  // Returns a uniform number in [0, bound), by multiplication. The bias of at most 2^-32 does not matter for schedules.
  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(((next() >> 32) * bound) >> 32); }

 private:
  std::uint64_t state_;
};

}  // namespace simt
