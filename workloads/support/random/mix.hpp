// This file has bijective bit mixers for host and device. The mixers hash keys and give the terms of digests that do
// not depend on order.
#pragma once

#include <cstdint>

#include "simt/common.hpp"

namespace allocbench {

// These functions are the finalizers of MurmurHash3 (Appleby, public domain).
SIMT_HOST_FN std::uint32_t mix32(std::uint32_t x) {
  x = (x ^ x >> 16) * 0x85ebca6bu;
  x = (x ^ x >> 13) * 0xc2b2ae35u;
  return x ^ x >> 16;
}
SIMT_HOST_FN std::uint64_t mix64(std::uint64_t x) {
  x = (x ^ x >> 33) * 0xff51afd7ed558ccdu;
  x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53u;
  return x ^ x >> 33;
}

// A digest of a multiset of 64-bit elements: their number, their sum, and the sums of two independent mixes of each
// element. Two multisets with the same digest are almost certainly equal, because the two mixed sums have 128 bits.
struct MultisetDigest {
  std::uint64_t count = 0;
  std::uint64_t sum = 0;
  std::uint64_t mixed = 0;
  std::uint64_t mixed_again = 0;

  SIMT_HOST_FN void add(std::uint64_t element) {
    ++count;
    sum += element;
    mixed += mix64(element);
    mixed_again += mix64(~element * 0x9e3779b97f4a7c15u);
  }
  SIMT_HOST_FN void add(const MultisetDigest& other) {
    count += other.count;
    sum += other.sum;
    mixed += other.mixed;
    mixed_again += other.mixed_again;
  }
  // Adds this digest to a digest in device memory. Other threads may add to that digest at the same time.
  template <class Thread>
  SIMT_FN void add_to(Thread& thread, MultisetDigest& shared) const {
    thread.atomic(shared.count).fetch_add(count, simt::relaxed);
    thread.atomic(shared.sum).fetch_add(sum, simt::relaxed);
    thread.atomic(shared.mixed).fetch_add(mixed, simt::relaxed);
    thread.atomic(shared.mixed_again).fetch_add(mixed_again, simt::relaxed);
  }
  friend bool operator==(const MultisetDigest&, const MultisetDigest&) = default;
};

}  // namespace allocbench
