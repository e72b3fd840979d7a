// SmConfinement launches a kernel on a part of the multiprocessors (workloads/support/kernels/confined_kernel.hpp), or
// in the usual way if the parameter `sms` is 0.
#pragma once

#include "allocators/support/contract/parameters.hpp"
#include "simt/simt.hpp"
#include "workloads/support/contract/allocator_handle.hpp"
#include "workloads/support/kernels/confined_kernel.hpp"

namespace allocbench {

// Parameters of workloads that can be confined.
struct SmParameters {
  std::uint32_t sms = 0;
};
template <class P>
auto sm_fields() {
  const auto member = []<class T>(T SmParameters::*base) -> T P::* { return base; };
  return std::tuple{Field{"sms", member(&SmParameters::sms), "multiprocessors",
                          "multiprocessors whose persistent blocks do the work of the grid; 0: the grid itself runs, "
                          "on all of them",
                          "Vinkler & Havran 2015, sec. 6: 8 against 15"}
                        .between(0, 1 << 16)};
}

class SmConfinement {
 public:
  // `launches` is the largest number of launches of a sample.
  SmConfinement(simt::Stream& stream, const SmParameters& parameters, std::uint32_t launches = 1)
      : stream_(stream), sms_(parameters.sms), next_(launches) {}

  // Resets the counters. Call this function before every sample.
  void prepare() {
    next_.fill_bytes(stream_, 0);
    launches_ = 0;
  }

  // Launches like AllocatorHandle::launch(). Observed allocators run the kernel without confinement, because their
  // passes are not timed.
  template <class Kernels, class Kernel, class... Args>
  void launch(const AllocatorHandle& allocator, simt::LaunchShape shape, Kernel kernel, Args... args) {
    if (sms_ == 0 || allocator.is_observed()) {
      allocator.launch<Kernels>(stream_, shape, kernel, args...);
      return;
    }
    const std::uint32_t blocks = shape.blocks;
    shape.shared_bytes = sizeof(std::uint32_t);
    shape.blocks = simt::max_resident_blocks(stream_, confined<Kernels, Kernel, Args...>(allocator.type()),
                                             shape.threads_per_block, shape.shared_bytes);
    allocator.launch<Kernels>(stream_, shape, ConfinedKernel<Kernel>{}, sms_, blocks, next_.data() + launches_++,
                              args...);
  }

  template <class Kernels, class Kernel, class... Args>
  simt::KernelAttributes attributes(const AllocatorType& type) const {
    return simt::kernel_attributes(sms_ == 0 ? kernel_of<Kernels, Kernel, Args...>(type)
                                             : confined<Kernels, Kernel, Args...>(type));
  }

 private:
  template <class Kernels, class Kernel, class... Args>
  static simt::KernelPointer confined(const AllocatorType& type) {
    return kernel_of<Kernels, ConfinedKernel<Kernel>, std::uint32_t, std::uint32_t, std::uint32_t*, Args...>(type);
  }

  simt::Stream& stream_;
  std::uint32_t sms_;
  simt::Buffer<std::uint32_t> next_;  // one counter per launch
  std::uint32_t launches_ = 0;
};

}  // namespace allocbench
