// Divides a piece of the pool into tables. Host code.
#pragma once

#include "simt/simt.hpp"

namespace allocbench::ouroboros {

// Hands out tables one behind the other. Without a base it only measures.
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

inline std::uint32_t log_up(std::uint64_t value) {
  std::uint32_t log = 0;
  while (std::uint64_t{1} << log < value) ++log;
  return log;
}

}  // namespace allocbench::ouroboros
