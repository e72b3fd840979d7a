// These cases of the contract suite request special sizes: 0, borders of classes, the largest size, and sizes above the
// pool.
#include <algorithm>
#include <set>

#include "allocators/support/contract/allocator.hpp"
#include "tests/contract/cases.hpp"
#include "workloads/support/verification/pointer_check.hpp"

namespace allocbench::contract {

std::size_t supported_pool(const AllocatorType& type, std::size_t least) {
  constexpr std::size_t most = std::size_t{64} << 20;
  for (std::size_t bytes = least;; bytes *= 2) {
    try {
      Report ignored;
      const Heap heap(type, bytes, ignored);
      return bytes;
    } catch (const Unsupported&) {
      if (bytes >= most) throw;
    }
  }
}

std::size_t roomy_pool(const AllocatorType& type, const std::vector<std::uint64_t>& sizes) {
  constexpr std::size_t most = std::size_t{256} << 20;
  std::size_t bytes = supported_pool(type, main_pool);
  for (; bytes < most; bytes *= 2) {
    Report ignored;
    Heap heap(type, bytes, ignored);
    Calls calls(1, 1);
    for (const std::uint64_t size : sizes) {
      heap.malloc(calls, 0, size);
      calls.next();
    }
    heap.run(calls);
    const bool all = heap.live() == sizes.size();
    heap.free_all();
    if (all) break;
  }
  return bytes;
}

void compare_served(Report& report, std::uint64_t bytes, std::uint32_t before, std::uint32_t after,
                    const std::string& when) {
  if (after >= before) return;
  report.count("spurious_nulls", before - after);
  if (before - after <= before / 50) return;
  report.problem("a pool that served " + std::to_string(before) + " blocks of " + std::to_string(bytes) +
                 " bytes serves " + std::to_string(after) + " " + when);
}

std::string sizes_text(const std::vector<std::uint64_t>& sizes) {
  std::string text = std::to_string(sizes.front());
  for (std::size_t i = 1; i < std::min<std::size_t>(sizes.size(), 6); ++i) text += ", " + std::to_string(sizes[i]);
  return text + (sizes.size() > 6 ? ", ..." : "");
}

std::vector<std::uint64_t> border_sizes(const AllocatorType& type, std::size_t pool_bytes) {
  const std::uint64_t largest = type.functions.max_request(pool_bytes, {});
  std::set<std::uint64_t> sizes;
  const auto border = [&](std::uint64_t bytes) {
    for (const std::uint64_t size : {bytes - 1, bytes, bytes + 1}) {
      if (size >= 1 && size <= largest) sizes.insert(size);
    }
  };
  for (std::uint64_t power = 2; power <= largest; power *= 2) {
    border(power);
    border(power + power / 2);
  }
  for (const ParameterInfo& parameter : type.parameters) {
    if (parameter.unit != "B") continue;
    if (const auto* bytes = std::get_if<std::uint64_t>(&parameter.default_value)) {
      border(*bytes);
      border(*bytes / 2);
    } else if (const auto* list = std::get_if<std::vector<std::uint64_t>>(&parameter.default_value)) {
      for (const std::uint64_t each : *list) border(each);
    }
  }
  border(largest);
  return {sizes.begin(), sizes.end()};
}

std::vector<std::uint64_t> wild_sizes(std::size_t pool_bytes) {
  std::vector<std::uint64_t> sizes{pool_bytes + 1, pool_bytes + 16, 2 * pool_bytes + 1};
  for (std::uint64_t power = std::uint64_t{1} << 31; power != 0; power *= 2) {
    sizes.insert(sizes.end(), {power - 1, power, power + 1, power + 64});
  }
  for (std::uint64_t below = 1; below <= 4096; below *= 2) {
    sizes.insert(sizes.end(), {0 - below, 0 - below - 1, 0 - below + 1, 0 - below - below / 2});
  }
  sizes.erase(std::remove_if(sizes.begin(), sizes.end(), [&](std::uint64_t size) { return size <= pool_bytes; }),
              sizes.end());
  return sizes;
}

std::uint32_t fill_alone(Heap& heap, std::uint64_t bytes) {
  Calls calls(1, 1);
  const std::uint64_t most = heap.pool_bytes() / std::max<std::uint64_t>(bytes, 16) + 16;
  const Blocks blocks = heap.malloc(calls, 0, bytes, static_cast<std::uint32_t>(most));
  heap.run(calls);
  return heap.served(blocks);
}

std::uint32_t served_alone(Heap& heap, std::uint64_t bytes) {
  const std::uint32_t count = fill_alone(heap, bytes);
  heap.free_all();
  return count;
}

namespace {

// The verification passes of a run request through the Checked adaptor, so the adaptor must answer as the allocator
// does.
void ask_for_zero_bytes(const AllocatorType& type, Report& report, bool checked) {
  Heap heap(type, supported_pool(type, main_pool), report);
  const bool null_expected = type.traits.zero == ZeroBytes::null;
  Calls calls(2, 33);
  constexpr std::uint32_t rounds = 4;
  if (checked) heap.check_contents(std::uint64_t{rounds} * calls.threads());
  std::vector<Blocks> blocks;
  for (std::uint32_t round = 0; round < rounds; ++round) {
    for (std::uint32_t thread = 0; thread < calls.threads(); ++thread) {
      blocks.push_back(heap.malloc(calls, thread, round % 2 == 0 ? 0 : thread % 2));
    }
    calls.next();
  }
  heap.run(calls);
  std::uint32_t wrong = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const bool zero = (i / calls.threads()) % 2 == 0 || i % calls.threads() % 2 == 0;
    if (heap.served(blocks[i].first) != !(zero && null_expected)) ++wrong;
  }
  if (wrong != 0) {
    report.problem(std::to_string(wrong) + " of " + std::to_string(blocks.size()) + " requests of 0 or 1 bytes got " +
                   (null_expected ? "a block for 0 bytes or null for 1" : "null") + " from an empty pool" +
                   (checked ? " behind the Checked adaptor" : ""));
  }
  heap.free_all();
}

void zero_bytes(const AllocatorType& type, Report& report) {
  ask_for_zero_bytes(type, report, false);
  if (!type.traits.recycles_unfreed) ask_for_zero_bytes(type, report, true);
}

// For each size, one lane requests a block from a fresh heap.
void class_borders(const AllocatorType& type, Report& report) {
  Heap heap(type, supported_pool(type, main_pool), report);
  std::vector<std::uint64_t> refused;
  const std::vector<std::uint64_t> sizes = border_sizes(type, heap.pool_bytes());
  for (const std::uint64_t bytes : sizes) {
    Calls calls(1, 1);
    const Blocks block = heap.malloc(calls, 0, bytes);
    heap.run(calls);
    if (heap.served(block) == 0) refused.push_back(bytes);
    heap.refresh();
  }
  if (!refused.empty()) {
    report.problem(std::to_string(refused.size()) + " of " + std::to_string(sizes.size()) +
                   " sizes up to max_request (" + std::to_string(heap.max_request()) +
                   ") got null from a fresh pool: " + sizes_text(refused));
  }
}

// One lane takes and frees each size in turn, so all memory is free at each request.
void sizes_in_turn(const AllocatorType& type, Report& report) {
  Heap heap(type, supported_pool(type, main_pool), report);
  std::vector<std::uint64_t> refused;
  const std::vector<std::uint64_t> sizes = border_sizes(type, heap.pool_bytes());
  Calls calls(1, 1);
  std::vector<Blocks> blocks;
  for (int pass = 0; pass < 2; ++pass) {
    for (const std::uint64_t bytes : sizes) {
      blocks.push_back(heap.malloc(calls, 0, bytes));
      calls.next();
      heap.free(calls, 0, blocks.back());
      calls.next();
      calls.set(0, {.verb = ScriptVerb::release});
      calls.next();
    }
  }
  heap.run(calls);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (heap.served(blocks[i]) == 0) refused.push_back(sizes[i % sizes.size()]);
  }
  heap.free_all();
  report.count("spurious_nulls", refused.size());
  if (!refused.empty()) {
    report.problem(std::to_string(refused.size()) + " of " + std::to_string(2 * sizes.size()) +
                   " requests got null although all earlier blocks were freed: " + sizes_text(refused));
  }
}

// In pools of several sizes, also of odd ones, max_request must be served, or create() must refuse the pool.
void max_request(const AllocatorType& type, Report& report) {
  for (const std::size_t pool :
       {std::size_t{1000}, std::size_t{4096}, small_pool(), small_pool() + 4112, std::size_t{100'000},
        std::size_t{256} << 10, main_pool, main_pool + 8192 + 16, std::size_t{8} << 20}) {
    try {
      Heap heap(type, pool, report);
      Calls calls(1, 1);
      const Blocks block = heap.malloc(calls, 0, heap.max_request());
      heap.run(calls);
      if (heap.served(block) == 0) {
        report.problem("a fresh pool of " + std::to_string(pool) + " bytes does not serve max_request, " +
                       std::to_string(heap.max_request()) + " bytes");
      }
      heap.free_all();
    } catch (const Unsupported&) {
    }
  }
}

// A request above the pool must get null and leave the heap as it was. A lone lane requests each size. Then the odd
// lanes of a warp do this while the even lanes make ordinary requests.
void wild_sizes_case(const AllocatorType& type, Report& report) {
  const std::size_t pool = supported_pool(type, main_pool);
  const std::vector<std::uint64_t> sizes = wild_sizes(pool);
  Heap heap(type, pool, report);
  const std::uint64_t ordinary = std::min<std::uint64_t>(heap.max_request(), 64);
  const bool comparable = if_unfreed_blocks_stay(type.traits).empty();
  const std::uint32_t before = comparable ? fill_alone(heap, ordinary) : 0;
  heap.refresh();

  std::set<std::uint64_t> served_wild;
  Calls alone(1, 1);
  for (const std::uint64_t bytes : sizes) {
    heap.malloc(alone, 0, bytes);
    alone.next();
  }
  heap.run(alone);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (heap.served(i)) served_wild.insert(sizes[i]);
  }
  if (type.traits.frees == Frees::never && comparable) {
    compare_served(report, ordinary, before, fill_alone(heap, ordinary), "after requests above the pool");
  }
  heap.free_all();
  heap.refresh();

  Calls warp(1, 32);
  std::vector<Blocks> blocks;
  for (const std::uint64_t bytes : sizes) {
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
      blocks.push_back(heap.malloc(warp, lane, lane % 2 == 0 ? ordinary : bytes));
    }
    warp.next();
    for (std::uint32_t lane = 0; lane < 32; lane += 2) heap.free(warp, lane, blocks[blocks.size() - 32 + lane]);
    warp.next();
  }
  heap.run(warp);
  std::uint32_t refused = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const bool served = heap.served(blocks[i]) != 0;
    if (i % 2 == 0 && !served) ++refused;
    if (i % 2 != 0 && served) served_wild.insert(sizes[i / 32]);
  }
  heap.free_all();
  if (!served_wild.empty()) {
    report.problem(std::to_string(served_wild.size()) +
                   " sizes above the pool got a block: " + sizes_text({served_wild.begin(), served_wild.end()}));
  }
  report.count("spurious_nulls", refused);
  if (refused != 0) {
    report.problem(std::to_string(refused) + " requests of " + std::to_string(ordinary) +
                   " bytes got null beside requests that cannot be served");
  }
  if (!comparable || type.traits.frees == Frees::never) return;
  compare_served(report, ordinary, before, served_alone(heap, ordinary), "after requests above the pool");
}

}  // namespace

std::vector<Case> size_cases() {
  return {{"zero_bytes", always, zero_bytes},
          {"class_borders", if_fresh_heaps, class_borders},
          {"sizes_in_turn", if_frees, sizes_in_turn},
          {"max_request", if_fresh_heaps, max_request},
          {"wild_sizes", always, wild_sizes_case}};
}

}  // namespace allocbench::contract
