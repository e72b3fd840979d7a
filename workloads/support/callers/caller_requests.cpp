#include "workloads/support/callers/caller_requests.hpp"

#include <algorithm>
#include <set>

#include "workloads/support/kernels/call_kernels.hpp"

namespace allocbench {

void CallerRequests::set_alignment(std::uint32_t alignment) {
  alignment_ = alignment;
  const RequestSizes& sizes = sizes_.host();
  const std::set<std::uint64_t> different(sizes.array().begin(), sizes.array().end());
  different_sizes_.assign(different.begin(), different.end());
  if (sizes.is_fixed()) different_sizes_ = {sizes.fixed_bytes()};
}

AllocatorHandle CallerRequests::aligned(const AllocatorHandle& allocator) const {
  return alignment_ == 1 ? allocator : allocator.aligned(alignment_, different_sizes_);
}

void CallerRequests::alloc(const AllocatorHandle& allocator, std::uint32_t round) const {
  if (callers() == 0) return;
  sizes_.visit([&](auto sizes) {
    allocator.launch<CallKernels>(stream_, geometry_.shape(), AllocKernel{}, geometry_, sizes, row(round));
  });
}

void CallerRequests::launch_frees(const AllocatorHandle& allocator, void** blocks, bool releases) const {
  if (callers() == 0) return;
  allocator.launch<CallKernels>(stream_, geometry_.shape(), FreeKernel{releases}, geometry_, blocks);
}

std::uint32_t CallerRequests::alloc_until_null(const AllocatorHandle& allocator) const {
  std::vector<void*> served(callers());
  std::uint32_t round = 0;
  bool full = callers() == 0;
  while (!full && round < rounds()) {
    alloc(allocator, round);
    simt::copy_to_host(stream_, served.data(), row(round), served.size() * sizeof(void*));
    full = std::find(served.begin(), served.end(), nullptr) != served.end();
    ++round;
  }
  return round;
}

void CallerRequests::alloc_and_free(const AllocatorHandle& allocator, PhaseTimer& timer) const {
  const AllocatorHandle handle = aligned(allocator);
  timer.phase("alloc", callers(), [&] { alloc(handle); });
  timer.phase("free", callers(), [&] { free(handle); });
  surplus_ = handle.alignment_surplus();
  if (alignment_ != 1) timer.counter("alignment_bytes", std::uint64_t{surplus_ * callers()});
}

std::vector<RecordedBlock> CallerRequests::blocks() const {
  return results_.blocks([&](std::size_t caller) { return sizes_.host()[caller]; });
}

void CallerRequests::check(PointerCheck& check, PointerCheck::Live live, AskedBlocks before) const {
  check.require_alignment(alignment_);
  results_.check(
      check, sizes_.any(), [&](std::size_t caller) { return sizes_.host()[caller]; }, live);
  const std::uint64_t rows = live == PointerCheck::Live::together ? rounds() : 1;
  check.explain_nulls(
      {before.count + rows * callers(), before.bytes + rows * (profile().bytes() + surplus_ * callers())}, live);
}

KernelInfo CallerRequests::alloc_info(std::string phase, const AllocatorType& type) const {
  KernelInfo info;
  sizes_.visit([&](auto sizes) {
    info = kernel_info<CallKernels, AllocKernel, Geometry, decltype(sizes), void**>(std::move(phase), type);
  });
  return info;
}

std::vector<KernelInfo> CallerRequests::kernels(const AllocatorType& type) const {
  return {alloc_info("alloc", type), kernel_info<CallKernels, FreeKernel, Geometry, void**>("free", type)};
}

}  // namespace allocbench
