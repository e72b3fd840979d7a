#include <cub/device/device_radix_sort.cuh>
#include <limits>

#include "workloads/support/verification/slot_check.hpp"

namespace allocbench {
namespace {

constexpr std::uint32_t threads_per_block = 256;

unsigned blocks_for(std::size_t count) {
  return static_cast<unsigned>((count + threads_per_block - 1) / threads_per_block);
}

struct Tally {
  unsigned long long counted;  // number of nulls, or of slots with the given address
  unsigned long long wrong;
};

// The rules of PointerCheck::check_one() as plain data, apart from `in_device_heap`.
struct DeviceRules {
  std::uint64_t pool_begin;
  std::uint64_t pool_end;  // 0: no bounds
  std::uint32_t alignment;
};

__device__ void add(Tally* tally, bool counts, bool wrong) {
  const int counted = __syncthreads_count(counts);
  const int wrongs = __syncthreads_count(wrong);
  if (threadIdx.x != 0) return;
  if (counted != 0) atomicAdd(&tally->counted, static_cast<unsigned long long>(counted));
  if (wrongs != 0) atomicAdd(&tally->wrong, static_cast<unsigned long long>(wrongs));
}

__device__ std::size_t index_in_grid() { return std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; }

__global__ void count_holding(void* const* slots, std::size_t count, const void* address, Tally* tally) {
  const std::size_t i = index_in_grid();
  add(tally, i < count && slots[i] == address, false);
}

__device__ bool is_judged(const SlotRange& range, std::size_t slot) {
  if (range.takes_part != nullptr && range.takes_part[slot % range.callers] == 0) return false;
  const auto address = reinterpret_cast<std::uint64_t>(range.slots[slot]);
  return range.mark == 0 || (address != range.mark && address != poisoned_slot);
}

// Checks each slot separately. `addresses` and `bytes`, if given, become the input of the overlap check.
__global__ void judge_each(SlotRange range, DeviceRules rules, std::uint64_t* addresses, std::uint64_t* bytes,
                           Tally* tally) {
  const std::size_t i = index_in_grid();
  bool null = false;
  bool wrong = false;
  if (i < range.count) {
    const bool judged = is_judged(range, i);
    const std::uint64_t address = judged ? reinterpret_cast<std::uint64_t>(range.slots[i]) : 0;
    const std::uint64_t size = range.sizes[static_cast<std::uint32_t>(i % range.period)];
    null = judged && address == 0;
    wrong = address != 0 && (address == poisoned_slot || address % rules.alignment != 0);
    if (address != 0 && rules.pool_end != 0) {
      wrong = wrong || address < rules.pool_begin || address > rules.pool_end || rules.pool_end - address < size;
    }
    if (addresses != nullptr) {
      addresses[i] = address;
      bytes[i] = size;
    }
  }
  add(tally, null, wrong);
}

// If any two blocks share bytes, so do two neighbours in address order. A block of 0 bytes has its own address.
__global__ void judge_neighbours(const std::uint64_t* addresses, const std::uint64_t* bytes, std::size_t count,
                                 Tally* tally) {
  const std::size_t i = index_in_grid();
  bool wrong = false;
  if (i + 1 < count && addresses[i] != 0) {
    wrong = addresses[i + 1] - addresses[i] < max(bytes[i], std::uint64_t{1});
  }
  add(tally, false, wrong);
}

}  // namespace

struct SlotCheck::Scratch {
  simt::Buffer<Tally> tally{1};
  simt::Buffer<std::uint64_t> addresses;
  simt::Buffer<std::uint64_t> bytes;
  simt::Buffer<std::uint64_t> sorted_addresses;
  simt::Buffer<std::uint64_t> sorted_bytes;
  simt::Buffer<std::byte> for_sort;

  void make_room(std::size_t count) {
    if (addresses.size() == count) return;
    addresses = simt::Buffer<std::uint64_t>(count);
    bytes = simt::Buffer<std::uint64_t>(count);
    sorted_addresses = simt::Buffer<std::uint64_t>(count);
    sorted_bytes = simt::Buffer<std::uint64_t>(count);
    std::size_t scratch_bytes = 0;
    simt::check_cuda(cub::DeviceRadixSort::SortPairs(nullptr, scratch_bytes, addresses.data(), sorted_addresses.data(),
                                                     bytes.data(), sorted_bytes.data(), static_cast<int>(count)),
                     "cub::DeviceRadixSort (size)");
    for_sort = simt::Buffer<std::byte>(scratch_bytes);
  }
  void sort(simt::Stream& stream) {
    std::size_t scratch_bytes = for_sort.size();
    simt::check_cuda(cub::DeviceRadixSort::SortPairs(for_sort.data(), scratch_bytes, addresses.data(),
                                                     sorted_addresses.data(), bytes.data(), sorted_bytes.data(),
                                                     static_cast<int>(addresses.size()), 0, 64, stream.native()),
                     "cub::DeviceRadixSort::SortPairs");
  }
};

SlotCheck::SlotCheck() = default;
SlotCheck::~SlotCheck() = default;
SlotCheck::SlotCheck(SlotCheck&&) noexcept = default;
SlotCheck& SlotCheck::operator=(SlotCheck&&) noexcept = default;

std::optional<std::uint64_t> SlotCheck::nulls_if_right(simt::Stream& stream, std::span<const SlotRange> ranges,
                                                       const PointerRules& rules, PointerCheck::Live live) {
  std::size_t count = 0;
  for (const SlotRange& range : ranges) count += range.count;
  if (count == 0 || count > std::numeric_limits<int>::max()) return std::nullopt;
  const bool compares = live == PointerCheck::Live::together && rules.check_overlap;
  try {
    if (!scratch_) scratch_ = std::make_unique<Scratch>();
    if (compares) scratch_->make_room(count);
  } catch (const simt::Fault& fault) {
    if (fault.kind() != simt::FaultKind::out_of_memory) throw;
    scratch_.reset();
    return std::nullopt;
  }
  scratch_->tally.fill_bytes(stream, 0);
  const DeviceRules device_rules{rules.pool_begin, rules.pool_end, rules.alignment};
  std::size_t begin = 0;
  for (const SlotRange& range : ranges) {
    if (range.count == 0) continue;
    judge_each<<<blocks_for(range.count), threads_per_block, 0, stream.native()>>>(
        range, device_rules, compares ? scratch_->addresses.data() + begin : nullptr,
        compares ? scratch_->bytes.data() + begin : nullptr, scratch_->tally.data());
    simt::check_cuda(cudaGetLastError(), "kernel launch");
    begin += range.count;
  }
  if (compares) {
    scratch_->sort(stream);
    judge_neighbours<<<blocks_for(count), threads_per_block, 0, stream.native()>>>(
        scratch_->sorted_addresses.data(), scratch_->sorted_bytes.data(), count, scratch_->tally.data());
    simt::check_cuda(cudaGetLastError(), "kernel launch");
  }
  const Tally tally = scratch_->tally.to_host(stream).front();
  if (tally.wrong != 0) return std::nullopt;
  return tally.counted;
}

std::optional<std::uint64_t> SlotCheck::holding(simt::Stream& stream, void* const* slots, std::size_t count,
                                                const void* address) {
  if (count == 0) return 0;
  if (!scratch_) scratch_ = std::make_unique<Scratch>();
  scratch_->tally.fill_bytes(stream, 0);
  count_holding<<<blocks_for(count), threads_per_block, 0, stream.native()>>>(slots, count, address,
                                                                              scratch_->tally.data());
  simt::check_cuda(cudaGetLastError(), "kernel launch");
  return scratch_->tally.to_host(stream).front().counted;
}

}  // namespace allocbench
