// Parked is a variable that CUDA code keeps in local memory instead of registers. On the CPU it is a plain variable.
//
// A kernel has as many registers as its most demanding path needs, even if no warp takes this path. A variable that is
// live during a whole slow path, but is used only about once per round of the path's loop, need not take registers.
#pragma once

#include "simt/common.hpp"

namespace simt {

template <class T>
class Parked {
 public:
  SIMT_FN Parked(T value) : value_(value) {
#if defined(__CUDA_ARCH__)
    asm volatile("" : : "l"(&value_) : "memory");  // the compiler must assume that other code knows the address
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
