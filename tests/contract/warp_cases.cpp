// These cases of the contract suite vary which lanes call: thread blocks of odd sizes, partial warps, one lane of each
// warp, different sizes in a warp, free(null).
#include <algorithm>
#include <random>

#include "tests/contract/cases.hpp"

namespace allocbench::contract {
namespace {

// A Part says whether a thread takes part in a round.
using Part = bool (*)(std::uint32_t thread, std::uint32_t round);

constexpr std::uint32_t rounds_of_calls = 6;

// The threads of a part request `sizes` in six rounds. If the design frees single blocks, the blocks of most rounds are
// freed two rounds later. All requests together are at most an eighth of the pool, so every null is spurious.
void take_and_free(const AllocatorType& type, Report& report, Calls calls, Part part,
                   const std::vector<std::uint64_t>& sizes) {
  Heap heap(type, roomy_pool(type, sizes), report);
  const bool frees = type.traits.frees == Frees::individually;
  std::vector<std::vector<std::pair<std::uint32_t, Blocks>>> taken(rounds_of_calls);
  std::uint64_t asked = 0;
  std::size_t next_size = 0;
  for (std::uint32_t round = 0; round < rounds_of_calls; ++round) {
    for (std::uint32_t thread = 0; thread < calls.threads(); ++thread) {
      if (!part(thread, round)) continue;
      const std::uint64_t bytes = sizes[next_size++ % sizes.size()];
      if (asked + bytes > heap.pool_bytes() / 8) continue;
      asked += bytes;
      taken[round].emplace_back(thread, heap.malloc(calls, thread, bytes));
    }
    calls.next();
    if (frees && round >= 2) {
      for (const auto& [thread, blocks] : taken[round - 2]) heap.free(calls, thread, blocks);
      taken[round - 2].clear();
      calls.next();
    }
  }
  const std::uint32_t all = heap.requests();
  heap.run(calls);
  const std::uint32_t nulls = all - heap.served({0, all});
  report.count("requests", all);
  report.count("spurious_nulls", nulls);
  // As in cells of a run, up to one null in a hundred requests is counted but is not a failure.
  if (nulls > all / 100) {
    report.problem(std::to_string(nulls) + " of " + std::to_string(all) + " requests got null (of " +
                   sizes_text(heap.refused_sizes()) + " bytes). All requests ask for " + std::to_string(asked) +
                   " bytes of a pool of " + std::to_string(heap.pool_bytes()));
  }
  heap.free_all();
}

std::vector<std::uint64_t> small_sizes(const AllocatorType& type) {
  const std::uint64_t largest =
      std::min<std::uint64_t>(type.functions.max_request(supported_pool(type, main_pool), {}), 256);
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t bytes : {16, 64, 24, 256, 4, 100, 1, 48}) {
    if (bytes <= largest) sizes.push_back(bytes);
  }
  return sizes.empty() ? std::vector<std::uint64_t>{largest} : sizes;
}

void blocks_of_33_threads(const AllocatorType& type, Report& report) {
  take_and_free(
      type, report, Calls(3, 33), [](std::uint32_t, std::uint32_t) { return true; }, small_sizes(type));
}

void one_lane_per_warp(const AllocatorType& type, Report& report) {
  take_and_free(
      type, report, Calls(2, 256),
      [](std::uint32_t thread, std::uint32_t round) { return thread % 32 == (round * 7 + thread / 32) % 32; },
      small_sizes(type));
}

// About a third of the lanes request, different ones in each round.
void partial_warps(const AllocatorType& type, Report& report) {
  take_and_free(
      type, report, Calls(2, 96),
      [](std::uint32_t thread, std::uint32_t round) { return (thread * 2654435761u >> (round + 8)) % 3 == 0; },
      small_sizes(type));
}

void divergent_sizes(const AllocatorType& type, Report& report) {
  const std::size_t pool = supported_pool(type, main_pool);
  std::vector<std::uint64_t> sizes = border_sizes(type, pool);
  sizes.erase(std::remove_if(sizes.begin(), sizes.end(), [&](std::uint64_t bytes) { return bytes > pool / 64; }),
              sizes.end());
  std::mt19937 order(1);
  std::shuffle(sizes.begin(), sizes.end(), order);
  take_and_free(
      type, report, Calls(1, 64), [](std::uint32_t, std::uint32_t) { return true; }, sizes);
}

// Whole warps and some lanes call free(null), also while other lanes call malloc and free.
void free_null(const AllocatorType& type, Report& report) {
  Heap heap(type, supported_pool(type, main_pool), report);
  const std::uint64_t bytes = std::min<std::uint64_t>(heap.max_request(), 64);
  const bool comparable = heap.can_refresh() && type.traits.frees != Frees::never;
  const std::uint32_t before = comparable ? fill_alone(heap, bytes) : 0;
  heap.refresh();
  Calls calls(2, 33);
  for (std::uint32_t thread = 0; thread < calls.threads(); ++thread) calls.free_null(thread);
  calls.next();
  std::vector<Blocks> blocks(calls.threads());
  for (std::uint32_t thread = 0; thread < calls.threads(); ++thread) {
    if (thread % 3 == 0) {
      calls.free_null(thread);
    } else {
      blocks[thread] = heap.malloc(calls, thread, bytes);
    }
  }
  calls.next();
  for (std::uint32_t thread = 0; thread < calls.threads(); ++thread) {
    if (thread % 3 == 1) {
      heap.free(calls, thread, blocks[thread]);
    } else {
      calls.free_null(thread);
    }
  }
  heap.run(calls);
  heap.free_all();
  if (!comparable) return;
  compare_served(report, bytes, before, served_alone(heap, bytes), "after free(null)");
}

// The same script on two fresh devices must give the same blocks. This holds only on the CPU executor, which repeats
// its schedules.
void replay(const AllocatorType& type, Report& report) {
  std::vector<std::uint64_t> first;
  for (int run = 0; run < 2; ++run) {
    Heap heap(type, supported_pool(type, main_pool), report);
    const std::vector<std::uint64_t> sizes = small_sizes(type);
    Calls calls(2, 64);
    std::vector<Blocks> blocks;
    for (std::uint32_t thread = 0; thread < calls.threads(); ++thread) {
      blocks.push_back(heap.malloc(calls, thread, sizes[thread % sizes.size()], 4));
    }
    heap.run(calls);
    std::vector<std::uint64_t> offsets;
    for (std::size_t slot = 0; slot < heap.requests(); ++slot)
      offsets.push_back(heap.served(slot) ? heap.offset(slot) : 1);
    if (run == 0) first = offsets;
    if (offsets != first) report.problem("two runs with the same seed got different blocks");
    heap.free_all();
  }
}

std::string if_replayed(const Traits&) { return schedules_are_replayed ? "" : "a GPU schedules its warps as it likes"; }

}  // namespace

std::vector<Case> warp_cases() {
  return {{"blocks_of_33_threads", always, blocks_of_33_threads},
          {"one_lane_per_warp", always, one_lane_per_warp},
          {"partial_warps", always, partial_warps},
          {"divergent_sizes", always, divergent_sizes},
          {"free_null", always, free_null},
          {"replay", if_replayed, replay}};
}

}  // namespace allocbench::contract
