// These cases of the contract suite fill pools: exhaustion, refilling, reset, churn.
#include <algorithm>
#include <random>

#include "tests/contract/cases.hpp"

namespace allocbench::contract {
namespace {

// Returns a small, a medium and a large size, because some designs have a part of the pool for each.
std::vector<std::uint64_t> filling_sizes(const Heap& heap) {
  const std::uint64_t largest = heap.max_request();
  std::vector<std::uint64_t> sizes{std::min<std::uint64_t>(largest, 32)};
  for (const std::uint64_t bytes : {std::min<std::uint64_t>(largest, 1000), largest / 4}) {
    if (bytes > sizes.back()) sizes.push_back(bytes);
  }
  return sizes;
}

// Each thread of three thread blocks takes blocks until it gets null or has more than four times its share of the pool.
// Returns the number of blocks.
std::uint32_t fill_by_many(Heap& heap, std::uint64_t bytes) {
  Calls calls(3, 64);
  const std::uint64_t most = heap.pool_bytes() / std::max<std::uint64_t>(bytes, 16) + 1;
  const auto each = static_cast<std::uint32_t>(std::min<std::uint64_t>(most, 4 * most / calls.threads() + 4));
  for (std::uint32_t thread = 0; thread < calls.threads(); ++thread) heap.malloc(calls, thread, bytes, each);
  heap.run(calls);
  return heap.live();
}

// Fills an empty pool by fill_by_many(). Reports a problem if the pool serves nothing.
std::uint32_t fill_empty_by_many(Heap& heap, std::uint64_t bytes, Report& report) {
  const std::uint32_t count = fill_by_many(heap, bytes);
  if (count == 0)
    report.problem("an empty pool serves no block of " + std::to_string(bytes) + " bytes to many threads");
  return count;
}

std::string blocks_of(std::uint32_t count, std::uint64_t bytes) {
  return std::to_string(count) + " blocks of " + std::to_string(bytes) + " bytes";
}

// Many threads fill the pool, free everything and fill it again, four times. Each time, as many blocks as at first must
// fit (compare_served() has the tolerance).
void refill(const AllocatorType& type, Report& report) {
  Heap heap(type, supported_pool(type, small_pool()), report);
  for (const std::uint64_t bytes : filling_sizes(heap)) {
    heap.refresh();
    const std::uint32_t first = fill_empty_by_many(heap, bytes, report);
    std::uint32_t least = first;
    std::string rounds;
    for (int round = 0; round < 4; ++round) {
      heap.free_all();
      const std::uint32_t again = fill_by_many(heap, bytes);
      least = std::min(least, again);
      rounds += (round == 0 ? "" : ", ") + std::to_string(again);
    }
    heap.free_all();
    compare_served(report, bytes, first, least, "to many threads after all were freed (four fills: " + rounds + ")");
  }
}

// One lane fills the pool, frees everything and fills it again. It collides with no other lane.
void refill_alone(const AllocatorType& type, Report& report) {
  Heap heap(type, supported_pool(type, small_pool()), report);
  for (const std::uint64_t bytes : filling_sizes(heap)) {
    heap.refresh();
    const std::uint32_t first = served_alone(heap, bytes);
    compare_served(report, bytes, first, served_alone(heap, bytes), "after all were freed");
  }
}

// Requests to a full pool get null in bounded time, and live blocks stay as they are.
void null_when_full(const AllocatorType& type, Report& report) {
  Heap heap(type, supported_pool(type, small_pool()), report);
  for (const std::uint64_t bytes : filling_sizes(heap)) {
    heap.refresh();
    fill_empty_by_many(heap, bytes, report);
    // A few further requests may be served, because the threads gave up one by one.
    Calls calls(3, 64);
    for (std::uint32_t round = 0; round < 2; ++round) {
      for (std::uint32_t thread = 0; thread < calls.threads(); ++thread) heap.malloc(calls, thread, bytes);
      calls.next();
    }
    heap.run(calls);
    const std::uint64_t served = std::uint64_t{heap.live()} * std::max<std::uint64_t>(bytes, 1);
    if (served > heap.memory_bytes()) {
      report.problem(blocks_of(heap.live(), bytes) + " are live in " + std::to_string(heap.memory_bytes()) + " bytes");
    }
    heap.free_all();
  }
}

// After reset(), a full pool serves as much as a new one, for every size.
void reset_when_full(const AllocatorType& type, Report& report) {
  Heap heap(type, supported_pool(type, small_pool()), report);
  const std::vector<std::uint64_t> sizes = filling_sizes(heap);
  std::vector<std::uint32_t> fresh;
  for (const std::uint64_t bytes : sizes) {
    Heap other(type, heap.pool_bytes(), report);
    fresh.push_back(served_alone(other, bytes));
  }
  for (const std::uint64_t full_of : sizes) {
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      fill_by_many(heap, full_of);
      heap.reset();
      const std::uint32_t again = fill_alone(heap, sizes[i]);
      compare_served(report, sizes[i], fresh[i], again,
                     "after a reset while it was full of blocks of " + std::to_string(full_of) + " bytes");
      heap.reset();
    }
  }
}

// Many threads take and free blocks of many sizes. Afterwards a lone lane gets as many blocks as from a fresh pool.
void churn(const AllocatorType& type, Report& report) {
  Heap heap(type, supported_pool(type, main_pool), report);
  const std::uint64_t probe = std::min<std::uint64_t>(heap.max_request(), 1024);
  const std::uint32_t before = served_alone(heap, probe);
  heap.refresh();

  const std::uint64_t largest = std::min<std::uint64_t>(heap.max_request(), 512);
  std::mt19937 draw(1);
  Calls calls(4, 64);
  std::vector<std::vector<Blocks>> held(calls.threads());
  for (int round = 0; round < 24; ++round) {
    for (std::uint32_t thread = 0; thread < calls.threads(); ++thread) {
      const bool takes = held[thread].empty() || (held[thread].size() < 4 && draw() % 2 == 0);
      if (takes) {
        held[thread].push_back(heap.malloc(calls, thread, 1 + draw() % largest));
      } else {
        heap.free(calls, thread, held[thread].back());
        held[thread].pop_back();
      }
    }
    calls.next();
  }
  heap.run(calls);
  heap.free_all();
  compare_served(report, probe, before, served_alone(heap, probe), "after other blocks came and went");
}

// Every thread frees the block of another thread, mostly of another warp.
void free_by_others(const AllocatorType& type, Report& report) {
  Heap heap(type, supported_pool(type, main_pool), report);
  const std::uint64_t bytes = std::min<std::uint64_t>(heap.max_request(), 64);
  const std::uint32_t before = served_alone(heap, bytes);
  for (int pass = 0; pass < 2; ++pass) {
    Calls takes(2, 96);
    std::vector<Blocks> blocks;
    for (std::uint32_t thread = 0; thread < takes.threads(); ++thread)
      blocks.push_back(heap.malloc(takes, thread, bytes));
    heap.run(takes);
    Calls frees(2, 96);
    for (std::uint32_t thread = 0; thread < frees.threads(); ++thread) {
      heap.free(frees, thread, blocks[(thread * 5 + 33) % frees.threads()]);
    }
    heap.run(frees);
  }
  compare_served(report, bytes, before, served_alone(heap, bytes), "after threads freed the blocks of others");
}

// In a design that never frees, free() returns no memory, so a full pool serves nothing more.
void frees_nothing(const AllocatorType& type, Report& report) {
  Heap heap(type, supported_pool(type, main_pool), report);
  const std::uint64_t bytes = std::min<std::uint64_t>(heap.max_request(), 1024);
  const std::uint32_t first = served_alone(heap, bytes);
  const std::uint32_t second = fill_alone(heap, bytes);
  if (first == 0) report.problem("an empty pool serves nothing");
  if (second != 0) report.problem(blocks_of(second, bytes) + " are handed out again although the design never frees");
}

std::string if_resets(const Traits& traits) {
  return traits.fresh == Fresh::by_reset ? if_unfreed_blocks_stay(traits) : "the design has no reset()";
}
std::string if_any_thread_frees(const Traits& traits) {
  return traits.frees == Frees::individually ? if_unfreed_blocks_stay(traits) : "blocks are not freed one by one";
}
std::string if_never_frees(const Traits& traits) {
  return traits.frees == Frees::never ? if_unfreed_blocks_stay(traits) : "the design frees";
}

}  // namespace

std::vector<Case> pool_cases() {
  return {{"refill", if_frees, refill},
          {"refill_alone", if_frees, refill_alone},
          {"null_when_full", if_unfreed_blocks_stay, null_when_full},
          {"reset_when_full", if_resets, reset_when_full},
          {"churn", if_any_thread_frees, churn},
          {"free_by_others", if_any_thread_frees, free_by_others},
          {"frees_nothing", if_never_frees, frees_nothing}};
}

}  // namespace allocbench::contract
