// Carver divides a piece of the pool into tables, on the host.
#pragma once

#include <bit>

#include "simt/simt.hpp"

namespace allocbench::ouroboros {

// Carver assigns tables one after the other. Without a base it only computes the size.
class Carver {
 public:
  explicit Carver(std::byte* base) : base_(base) {}

  template <class T>
  T* take(std::uint64_t count) {
    used_ = simt::round_up<std::uint64_t>(used_, 128);
    T* const table = base_ == nullptr ? nullptr : reinterpret_cast<T*>(base_ + used_);
    used_ += count * sizeof(T);
    return table;
  }
  std::uint64_t used() const { return used_; }

 private:
  std::byte* base_;
  std::uint64_t used_ = 0;
};

// Returns the largest count, up to `most`, for which fits(count) is true, or 0 if there is none. If a count fits, all
// smaller counts must fit. The last call of fits() gets the returned count.
template <class Fits>
std::uint64_t largest_that_fits(std::uint64_t most, Fits fits) {
  std::uint64_t fitting = 0;
  for (std::uint64_t step = std::bit_floor(most); step != 0; step /= 2) {
    if (fitting + step <= most && fits(fitting + step)) fitting += step;
  }
  fits(fitting);
  return fitting;
}

inline std::uint32_t log_up(std::uint64_t value) {
  std::uint32_t log = 0;
  while (std::uint64_t{1} << log < value) ++log;
  return log;
}

}  // namespace allocbench::ouroboros
