// These cases of the contract suite have pools above 4 GiB, in which offsets need more than 32 bits.
#include <algorithm>
#include <bit>

#include "allocators/support/contract/allocator.hpp"
#include "tests/contract/cases.hpp"

namespace allocbench::contract {
namespace {

constexpr std::uint64_t gib = std::uint64_t{1} << 30;
constexpr std::uint64_t block_bytes = std::uint64_t{16} << 20;
// Largest number of blocks. It is lower on the CPU, because the executor needs longer for each call.
constexpr std::uint64_t most_blocks = devices_are_fresh ? 2'000'000 : 20'000'000;

// Returns parameter values for large blocks. Each parameter in bytes is as large as the blocks or its own limit, if the
// design supports this. A pool of small pages would need millions of calls.
ParameterValues parameters_for_large_blocks(const AllocatorType& type, std::size_t pool_bytes) {
  ParameterValues values;
  for (const ParameterInfo& parameter : type.parameters) {
    if (parameter.unit != "B" || !std::holds_alternative<std::uint64_t>(parameter.default_value)) continue;
    const auto most = static_cast<std::uint64_t>(std::min(parameter.maximum, static_cast<double>(block_bytes)));
    ParameterValues larger = values;
    larger.emplace_back(parameter.name, std::bit_floor(most));
    try {
      Report ignored;
      const Heap heap(type, pool_bytes, ignored, larger);
      values = larger;
    } catch (const Unsupported&) {
    }
  }
  return values;
}

// Halves the request size until a block comes from the pool and not from the device heap. Returns this size, or 16.
std::uint64_t largest_in_pool(Heap& heap) {
  // The 64 bytes leave room for a header in a design whose sizes are powers of two.
  for (std::uint64_t bytes = std::min<std::uint64_t>(heap.max_request(), block_bytes) - 64; bytes >= 16; bytes /= 2) {
    Calls calls(1, 1);
    heap.malloc(calls, 0, bytes);
    heap.run(calls);
    const bool in_pool = heap.served(0) && heap.in_pool(0);
    heap.free_all();
    if (in_pool) return bytes;
  }
  return 16;
}

// Fills up to three quarters of the pool. At least one block must begin in the upper half, and no two may overlap.
void fill_beyond(const AllocatorType& type, Report& report, std::size_t pool_bytes) {
  std::optional<Heap> heap;
  try {
    heap.emplace(type, pool_bytes, report, parameters_for_large_blocks(type, pool_bytes));
  } catch (const Unsupported& limit) {
    return report.skip(limit.what());
  }
  const std::uint64_t bytes = largest_in_pool(*heap);
  heap->refresh();
  const std::uint64_t wanted = heap->arena_bytes() / (bytes + 64) * 3 / 4;
  if (wanted > most_blocks) {
    return report.skip("blocks of " + std::to_string(bytes) + " bytes, the largest from the pool, would be " +
                       std::to_string(wanted) + "; this case keeps at most " + std::to_string(most_blocks));
  }
  heap->touch = wanted <= 16 << 10;
  // Each warp has one lane, because lanes of one warp would wait for each other.
  Calls calls(8, 1);
  const auto each = static_cast<std::uint32_t>(wanted / calls.threads());
  for (std::uint32_t thread = 0; thread < calls.threads(); ++thread) heap->malloc(calls, thread, bytes, each);
  heap->run(calls);
  std::uint64_t farthest = 0;
  for (std::size_t slot = 0; slot < heap->requests(); ++slot) {
    if (heap->served(slot) && heap->in_pool(slot)) farthest = std::max(farthest, heap->offset(slot));
  }
  report.count("blocks", heap->live());
  if (farthest < heap->arena_bytes() / 2) {
    report.problem("a pool of " + std::to_string(pool_bytes / gib) + " GiB, asked for " + std::to_string(wanted) +
                   " blocks of " + std::to_string(bytes) + " bytes, gave " + std::to_string(heap->live()) +
                   "; the farthest begins at byte " + std::to_string(farthest));
  }
  heap->free_all();
}

void pool_of_12_gib(const AllocatorType& type, Report& report) { fill_beyond(type, report, 12 * gib + 8192); }
void pool_of_66_gib(const AllocatorType& type, Report& report) { fill_beyond(type, report, 66 * gib); }

std::string if_in_arena(const Traits& traits) {
  if (traits.pool == PoolLocation::device_heap) return "its blocks lie in the device heap";
  if (traits.frees == Frees::in_bulk) return "it cuts blocks from those of another allocator, which is tested itself";
  return if_unfreed_blocks_stay(traits);
}

}  // namespace

std::vector<Case> large_pool_cases() {
  return {{"pool_of_12_gib", if_in_arena, pool_of_12_gib}, {"pool_of_66_gib", if_in_arena, pool_of_66_gib}};
}

}  // namespace allocbench::contract
