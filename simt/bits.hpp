// These functions operate on bits and words, in host and device code of both back ends. On a GPU, most of them are one
// machine instruction or a few.
#pragma once

#include <bit>

#include "simt/common.hpp"

namespace simt {

SIMT_HOST_FN std::uint32_t popcount(std::uint32_t x) {
#if defined(__CUDA_ARCH__)
  return static_cast<std::uint32_t>(__popc(x));
#else
  return static_cast<std::uint32_t>(std::popcount(x));
#endif
}

SIMT_HOST_FN std::uint32_t popcount(std::uint64_t x) {
#if defined(__CUDA_ARCH__)
  return static_cast<std::uint32_t>(__popcll(x));
#else
  return static_cast<std::uint32_t>(std::popcount(x));
#endif
}

// Returns the index of the lowest set bit, or the width of the type for zero.
SIMT_HOST_FN std::uint32_t count_trailing_zeros(std::uint32_t x) {
#if defined(__CUDA_ARCH__)
  return x == 0 ? 32u : static_cast<std::uint32_t>(__ffs(static_cast<int>(x)) - 1);
#else
  return static_cast<std::uint32_t>(std::countr_zero(x));
#endif
}

SIMT_HOST_FN std::uint32_t count_trailing_zeros(std::uint64_t x) {
#if defined(__CUDA_ARCH__)
  return x == 0 ? 64u : static_cast<std::uint32_t>(__ffsll(static_cast<long long>(x)) - 1);
#else
  return static_cast<std::uint32_t>(std::countr_zero(x));
#endif
}

// Returns the number of zero bits above the highest set bit, or the width of the type for zero.
SIMT_HOST_FN std::uint32_t count_leading_zeros(std::uint32_t x) {
#if defined(__CUDA_ARCH__)
  return static_cast<std::uint32_t>(__clz(static_cast<int>(x)));
#else
  return static_cast<std::uint32_t>(std::countl_zero(x));
#endif
}

SIMT_HOST_FN std::uint32_t count_leading_zeros(std::uint64_t x) {
#if defined(__CUDA_ARCH__)
  return static_cast<std::uint32_t>(__clzll(static_cast<long long>(x)));
#else
  return static_cast<std::uint32_t>(std::countl_zero(x));
#endif
}

// Returns the index of the set bit that has `rank` set bits below it. x must have more than `rank` set bits.
SIMT_HOST_FN std::uint32_t nth_set_bit(std::uint32_t x, std::uint32_t rank) {
  std::uint32_t index = 0;
  for (std::uint32_t width = 16; width != 0; width /= 2) {
    const std::uint32_t below = popcount(x >> index & ((1u << width) - 1));
    if (rank >= below) {
      rank -= below;
      index += width;
    }
  }
  return index;
}

// Returns the upper half of the product.
SIMT_HOST_FN std::uint32_t multiply_high(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::uint32_t>((static_cast<std::uint64_t>(a) * b) >> 32);
}

SIMT_HOST_FN std::uint64_t multiply_high(std::uint64_t a, std::uint64_t b) {
#if defined(__CUDA_ARCH__)
  return __umul64hi(a, b);
#else
  __extension__ using Wide = unsigned __int128;  // not an ISO type, so -Wpedantic would report it
  return static_cast<std::uint64_t>((static_cast<Wide>(a) * b) >> 64);
#endif
}

// Rounds `value` up to a multiple of `power_of_two`, which must be a power of two.
template <class T>
SIMT_HOST_FN constexpr T round_up(T value, T power_of_two) {
  return (value + power_of_two - 1) & ~(power_of_two - 1);
}

// Word128 holds sixteen bytes, which a GPU loads or stores by one instruction. Addresses must be multiples of 16.
struct alignas(16) Word128 {
  std::uint32_t words[4];
};

SIMT_HOST_FN Word128 load_16_bytes(const void* address) {
#if defined(__CUDA_ARCH__)
  const uint4 v = *static_cast<const uint4*>(address);
  return {{v.x, v.y, v.z, v.w}};
#else
  return *static_cast<const Word128*>(address);
#endif
}

SIMT_HOST_FN void store_16_bytes(void* address, const Word128& value) {
#if defined(__CUDA_ARCH__)
  *static_cast<uint4*>(address) = make_uint4(value.words[0], value.words[1], value.words[2], value.words[3]);
#else
  *static_cast<Word128*>(address) = value;
#endif
}

}  // namespace simt
