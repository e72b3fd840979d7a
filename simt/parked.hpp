// A variable of device code that lives in local memory.
//
// A kernel has as many registers as its longest path needs, also where no warp takes that path. What lives through all
// of a slow path and is used about once in a round need not hold registers.
#pragma once

#include "simt/common.hpp"

namespace simt {

template <class T>
class Parked {
 public:
  SIMT_FN Parked(T value) : value_(value) {
#if defined(__CUDA_ARCH__)
    asm volatile("" : : "l"(&value_) : "memory");  // its address is known elsewhere, as far as the compiler can tell
#endif
  }
  Parked(const Parked&) = delete;
  SIMT_FN Parked& operator=(T value) {
    value_ = value;
    return *this;
  }
  SIMT_FN operator T() const { return value_; }
  SIMT_FN const T* operator->() const { return &value_; }
  SIMT_FN T operator++() { return ++value_; }

 private:
  T value_;
};

}  // namespace simt
