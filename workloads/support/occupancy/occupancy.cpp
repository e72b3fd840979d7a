#include "workloads/support/occupancy/occupancy.hpp"

#include <algorithm>
#include <utility>

#include "workloads/support/occupancy/occupancy_kernels.hpp"

namespace allocbench {
namespace {

constexpr std::uint32_t threads_per_block = 256;

simt::LaunchShape shape_of(std::size_t threads) {
  return {static_cast<std::uint32_t>((threads - 1) / threads_per_block + 1), threads_per_block};
}

// Counts the `blocks` that are not null.
struct CountBlocks {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, void* const* blocks, std::uint32_t count, std::uint32_t* present) const {
    const std::uint32_t i = thread.rank_in_grid();
    const auto group = thread.converged();
    const simt::LaneMask served = group.ballot(i < count && blocks[i] != nullptr);
    if (group.leader() && served != 0) thread.atomic(*present).fetch_add(simt::popcount(served), simt::relaxed);
  }
};

struct CountNulls {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, void* const* blocks, std::uint32_t count, std::uint32_t* nulls) const {
    const std::uint32_t i = thread.rank_in_grid();
    if (i < count && blocks[i] == nullptr) thread.atomic(*nulls).fetch_add(1u, simt::relaxed);
  }
};

// Prepares each block in the same way as the malloc of a checked allocator does before it returns the block.
struct AdoptKernel {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, ContentLedger contents, std::uint64_t bytes, void* const* blocks,
                          std::uint32_t count) const {
    const std::uint32_t i = thread.rank_in_grid();
    if (i < count && blocks[i] != nullptr) contents.adopt(thread, blocks[i], bytes);
  }
};

}  // namespace

void fill_pool(simt::Stream& stream, const AllocatorHandle& allocator, const FilledPool::Requests& requests,
               void** blocks, const MakeRequests& make) {
  const auto adopt = [&](std::size_t count) {
    if (allocator.contents().report == nullptr) return;
    void* const* const taken = blocks;
    simt::launch(stream, shape_of(count), AdoptKernel{}, allocator.contents(),
                 std::max(requests.bytes, least_checked_bytes), taken, static_cast<std::uint32_t>(count));
  };
  allocator.fill(requests, blocks, adopt, make);
}

void Occupants::enter(const AllocatorHandle& allocator, std::uint64_t bytes, const PageSet& used) {
  if (blocks_.size() == 0) return;
  fill(allocator, bytes);
  allocator.begin(Stage::drain);
  allocator.launch<OccupancyKernels>(stream_, shape(), VacateKernel{}, blocks_.data(), count(), used, false);
}

void Occupants::fill(const AllocatorHandle& allocator, std::uint64_t bytes) {
  const FilledPool::Requests requests{bytes, blocks_.size(), threads_per_block, simt::warp_size, together_};
  bool first = true;
  fill_pool(stream_, allocator, requests, blocks_.data(), [&](std::size_t begin, std::size_t end) {
    if (std::exchange(first, false)) count_refusals(begin);
    const auto launched = static_cast<std::uint32_t>(end - begin);
    allocator.launch<OccupancyKernels>(stream_, shape_of(launched), OccupyKernel{}, bytes, blocks_.data() + begin,
                                       launched, refusals_.data());
  });
}

// Counts the refusals among the first requests. OccupyKernel skips requests only after `enough_refusals` refusals. So
// up to this number each null is a refusal. Above it, the exact number does not matter.
void Occupants::count_refusals(std::size_t requests) {
  refusals_.fill_bytes(stream_, 0);
  if (requests == 0) return;
  simt::launch(stream_, shape_of(requests), CountNulls{}, static_cast<void* const*>(blocks_.data()),
               static_cast<std::uint32_t>(requests), refusals_.data());
}

void Occupants::leave(const AllocatorHandle& allocator, const PageSet& used) {
  if (blocks_.size() == 0 || allocator.is_reset_afterwards()) return;
  allocator.begin(Stage::drain);
  allocator.launch<OccupancyKernels>(stream_, shape(), VacateKernel{}, blocks_.data(), count(), used, true);
}

std::uint32_t Occupants::present() const {
  simt::Buffer<std::uint32_t> sum(1);
  sum.fill_bytes(stream_, 0);
  if (count() != 0) {
    simt::launch(stream_, shape(), CountBlocks{}, static_cast<void* const*>(blocks_.data()), count(), sum.data());
  }
  return sum.to_host(stream_).front();
}

std::vector<void*> Occupants::blocks() const {
  std::vector<void*> present = blocks_.to_host(stream_);
  present.erase(std::remove(present.begin(), present.end(), nullptr), present.end());
  return present;
}

simt::LaunchShape Occupants::shape() const { return shape_of(count()); }

}  // namespace allocbench
