// Modulo computes x mod d and x / d for a divisor that is not known at compile time. Instead of a division, the device
// needs a high product, a low product and a correction (the "round down" method; Warren, Hacker's Delight, ch. 10).
#pragma once

#include "simt/simt.hpp"

namespace allocbench {

class Modulo {
 public:
  Modulo() = default;
  // Requires 1 <= divisor < 2^31.
  explicit Modulo(std::uint32_t divisor)
      : divisor_(divisor), reciprocal_(static_cast<std::uint32_t>((std::uint64_t{1} << 32) / divisor)) {
    if (divisor == 1) reciprocal_ = 0xffffffffu;  // 2^32 does not fit; 2^32 - 1 gives a quotient that is one too small
  }

  SIMT_HOST_FN std::uint32_t divisor() const { return divisor_; }

  // Returns x mod d. The estimated quotient is right or one too small, because x < 2^32.
  SIMT_HOST_FN std::uint32_t operator()(std::uint32_t x) const {
    const std::uint32_t rest = x - simt::multiply_high(x, reciprocal_) * divisor_;
    return rest >= divisor_ ? rest - divisor_ : rest;
  }
  SIMT_HOST_FN std::uint32_t quotient(std::uint32_t x) const {
    const std::uint32_t estimate = simt::multiply_high(x, reciprocal_);
    return x - estimate * divisor_ >= divisor_ ? estimate + 1 : estimate;
  }

 private:
  std::uint32_t divisor_ = 1;
  std::uint32_t reciprocal_ = 0xffffffffu;
};

}  // namespace allocbench
