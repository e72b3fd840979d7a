#include "workloads/support/occupancy/ageing.hpp"

#include <algorithm>
#include <typeinfo>

#include "workloads/support/random/random.hpp"

namespace allocbench {
namespace {

// Ageing uses at most 1,024 threads, even if the workload has more callers. So 10^4 rounds have at most about 5 million
// calls.
constexpr std::uint32_t most_threads = 1024;
constexpr std::uint32_t most_slots = 64;
constexpr std::uint32_t rounds_per_launch = 64;
constexpr std::uint32_t one_survivor_of = 8;
// If all slots are full, their blocks take at most this fraction (1 / pool_share) of the pool, unless one slot per
// thread takes more. On average half of the slots are full.
constexpr std::uint64_t pool_share = 2;

Geometry crowd_of(const Geometry& workload) {
  const std::uint32_t lanes = workload.lanes_per_warp;
  const std::uint32_t callers = std::min(workload.callers, most_threads / simt::warp_size * lanes);
  return Geometry::of_callers(std::max(callers, 1u), std::min(workload.threads_per_block, 256u), lanes);
}

}  // namespace

std::string Ageing::unsupported(const AllocatorType& type) {
  const std::string name(type.traits.display_name);
  if (type.traits.frees == Frees::never) return name + " never frees, so its heap cannot age";
  if (!type.has_kernel(typeid(KernelOn<ScriptKernel, Script>))) {
    return name + " is deliberately broken, so its heap is not aged";
  }
  return {};
}

Ageing::Ageing(simt::Stream& stream, const RunSetting& setting, const RequestProfile& requests, std::uint64_t rounds)
    : stream_(stream),
      traits_(setting.traits()),
      geometry_(crowd_of(requests.geometry)),
      sizes_(requests.sizes),
      request_count_(requests.geometry.callers),
      rounds_(rounds),
      seed_(setting.seed),
      findings_(1) {
  const std::uint64_t row_bytes =
      std::max<std::uint64_t>(sizes_.largest(), 16) * std::max<std::uint64_t>(geometry_.callers, 1);
  slots_per_thread_ =
      static_cast<std::uint32_t>(std::clamp<std::uint64_t>(setting.pool_bytes / pool_share / row_bytes, 1, most_slots));
  const std::uint32_t grid = geometry_.shape().blocks * geometry_.shape().threads_per_block;
  for (std::uint32_t rank = 0; rank < grid && threads_.size() < geometry_.callers; ++rank) {
    // The last warp of a block may be partial, so lanes are counted in the block.
    if (rank % geometry_.threads_per_block % simt::warp_size < geometry_.lanes_per_warp) threads_.push_back({rank});
  }
  calls_.resize(std::size_t{grid} * rounds_per_launch);
  device_calls_ = simt::Buffer<ScriptCall>(calls_.size());
  slots_ = simt::Buffer<void*>(std::size_t{grid} * slots_per_thread_);
}

void Ageing::age(const AllocatorHandle& allocator) {
  slots_.fill_bytes(stream_, 0);
  findings_.fill_bytes(stream_, 0);
  survivors_ = 0;
  for (Thread& thread : threads_) thread.taken = 0;
  const std::size_t grid = calls_.size() / rounds_per_launch;
  for (std::uint64_t begin = 0; begin < rounds_; begin += rounds_per_launch) {
    const auto rounds = static_cast<std::uint32_t>(std::min<std::uint64_t>(rounds_per_launch, rounds_ - begin));
    std::fill(calls_.begin(), calls_.end(), ScriptCall{});
    for (std::uint32_t round = 0; round < rounds; ++round) one_round(begin + round, calls_.data() + round * grid);
    launch(allocator, rounds);
  }
  free_all(allocator, [](std::size_t number) { return number % one_survivor_of == 0; });
}

void Ageing::leave(const AllocatorHandle& allocator) {
  free_all(allocator, [](std::size_t) { return false; });
}

// Four threads share a draw of four words. If all lanes of a warp must call together, four warps share it.
void Ageing::one_round(std::uint64_t round, ScriptCall* calls) {
  const std::uint32_t sharing = traits_.whole_warp_calls ? simt::warp_size : 1;
  RandomWords drawn{};
  for (std::size_t i = 0; i < threads_.size(); ++i) {
    const std::size_t unit = i / sharing;
    if (i % sharing == 0 && unit % 4 == 0) {
      drawn = random_words(seed_, RandomStream::ageing, round, static_cast<std::uint32_t>(unit / 4));
    }
    const std::uint32_t word = drawn.words[unit % 4];
    if ((word & 1) == 0) continue;
    act(threads_[i], scale_to(word << 8, slots_per_thread_), word >> 1, calls[threads_[i].rank]);
  }
}

void Ageing::act(Thread& thread, std::uint32_t slot, std::uint32_t word, ScriptCall& call) {
  const std::uint64_t bit = std::uint64_t{1} << slot;
  call.count = 1;
  call.slot = std::uint64_t{thread.rank} * slots_per_thread_ + slot;
  if ((thread.taken & bit) == 0) {
    call.verb = ScriptVerb::malloc;
    call.bytes = bytes_for(word);
    thread.taken |= bit;
  } else if (traits_.frees == Frees::individually) {
    call.verb = ScriptVerb::free;
    thread.taken &= ~bit;
  } else {
    call.verb = ScriptVerb::release;  // frees all blocks of the thread
    thread.taken = 0;
  }
}

std::uint64_t Ageing::bytes_for(std::uint32_t word) const {
  const std::uint64_t bytes = sizes_[(word >> 2) % request_count_];
  const std::uint32_t halvings = word % 3;
  return std::max<std::uint64_t>(bytes >> halvings, 1);
}

template <class Survives>
void Ageing::free_all(const AllocatorHandle& allocator, Survives&& survives) {
  std::fill(calls_.begin(), calls_.end(), ScriptCall{});
  const std::size_t grid = calls_.size() / rounds_per_launch;
  std::size_t number = 0;
  std::uint64_t left = 0;
  std::uint32_t rounds = 0;
  for (Thread& thread : threads_) {
    if (traits_.frees == Frees::in_bulk) {
      calls_[thread.rank].verb = ScriptVerb::release;
      thread.taken = 0;
      rounds = 1;
      continue;
    }
    std::uint32_t round = 0;
    for (std::uint32_t slot = 0; slot < slots_per_thread_; ++slot) {
      const std::uint64_t bit = std::uint64_t{1} << slot;
      if ((thread.taken & bit) == 0) continue;
      if (survives(number++)) {
        ++left;
        continue;
      }
      calls_[round++ * grid + thread.rank] = {.verb = ScriptVerb::free,
                                              .count = 1,
                                              .slot = std::uint64_t{thread.rank} * slots_per_thread_ + slot,
                                              .bytes = 0};
      thread.taken &= ~bit;
    }
    rounds = std::max(rounds, round);
  }
  survivors_ = left;
  if (rounds != 0) launch(allocator, rounds);
}

void Ageing::launch(const AllocatorHandle& allocator, std::uint32_t rounds) {
  device_calls_.from_host(stream_, calls_);
  Script script;
  script.calls = device_calls_.data();
  script.rounds = rounds;
  script.slots = slots_.data();
  script.findings = findings_.data();
  script.touch = false;
  allocator.bare().launch<ScriptKernels>(stream_, geometry_.shape(), ScriptKernel{}, script);
}

}  // namespace allocbench
