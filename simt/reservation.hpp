// Reservation is a range of addresses in which the amount of device memory can grow. Each back end implements it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "simt/common.hpp"

namespace simt {

class Device;

class Reservation {
 public:
  // Reserves addresses for this many bytes, rounded up to granules, but no memory. On CUDA, this uses virtual memory
  // management (CUDA C++ Programming Guide, "Virtual Memory Management"). On the CPU, it maps pages that fault until
  // grow() makes them accessible. Throws Fault(environment) if the driver lacks the functions for this, and
  // Fault(out_of_memory) if there are not enough addresses.
  Reservation(Device& device, std::size_t most_bytes);
  // Frees memory and addresses. No kernel that uses the memory may still run.
  ~Reservation();
  Reservation(const Reservation&) = delete;
  Reservation& operator=(const Reservation&) = delete;

  // Adds memory in whole granules, until at least the first `bytes` addresses have memory. Existing contents stay.
  // Throws Fault(out_of_memory) and changes nothing if the device has too little memory or the reservation is too
  // small.
  void grow(std::size_t bytes);

  std::byte* base() const { return base_; }
  std::size_t bytes() const { return bytes_; }  // number of bytes that have memory
  std::size_t most_bytes() const { return most_bytes_; }

 private:
  std::size_t granules(std::size_t bytes) const { return (bytes + granule_ - 1) / granule_ * granule_; }
  void require_room(std::size_t bytes) const {
    if (bytes <= most_bytes_) return;
    throw Fault(FaultKind::out_of_memory, std::to_string(bytes) + " bytes are more than the " +
                                              std::to_string(most_bytes_) + " that are reserved");
  }

  int ordinal_ = 0;
  std::byte* base_ = nullptr;
  std::size_t bytes_ = 0;
  std::size_t most_bytes_ = 0;
  std::size_t granule_ = 1;
  std::vector<std::size_t> pieces_;  // bytes of each growth
};

}  // namespace simt
