#include "workloads/support/verification/reset_check.hpp"

#include <algorithm>

#include "allocators/support/contract/allocator.hpp"
#include "workloads/support/contract/outcome.hpp"
#include "workloads/support/kernels/call_kernels.hpp"
#include "workloads/support/verification/pointer_check.hpp"
#include "workloads/support/verification/pointer_rules.hpp"

namespace allocbench {
namespace {

constexpr std::size_t first_pool = std::size_t{256} << 10;
constexpr std::uint64_t blocks_per_pool = 512;
constexpr std::size_t most_blocks_counted = 8192;
constexpr std::uint32_t crowd_size = 256;
constexpr std::uint32_t few_callers = 32;
// If this time is over, the check leaves out its later steps. The first comparison always runs.
constexpr std::chrono::milliseconds reset_check_budget{100};
const Geometry lone_lane = Geometry::of_callers(1, simt::warp_size, 1);
// Designs with two heaps serve requests up to this size from their pool, which reset() covers.
constexpr std::uint64_t largest_in_pool = 1024;
// A search that gives up early can serve a different number of blocks each time. This many tries distinguish such a
// search from a loss.
constexpr int tries_to_judge = 4;
// For the same reason, a pool counts as drained only after this many refused calls in a row.
constexpr int refusals_of_empty_pool = 12;

AllocatorHandle with_deadline(AllocatorHandle allocator, const simt::DeadlineView& deadline) {
  allocator.end_calls_at(deadline);
  return allocator.observed({}, {});
}

std::string blocks_text(std::size_t count, std::uint64_t bytes) {
  return std::to_string(count) + " blocks of " + bytes_text(bytes);
}

}  // namespace

ResetCheck::Small::Small(const RunSetting& setting, simt::Stream& stream, std::size_t pool_bytes,
                         const simt::DeadlineView& deadline)
    : arena(stream, pool_bytes),
      allocator(with_deadline({setting.allocator, arena, setting.parameters}, deadline)),
      rules(pointer_rules(allocator, arena, !setting.traits().recycles_unfreed)) {}

ResetCheck::ResetCheck(simt::Stream& stream, const RunSetting& setting, PointerRules own, std::uint32_t lanes_per_warp,
                       ResetFindings& findings)
    : stream_(stream),
      setting_(setting),
      own_rules_(std::move(own)),
      findings_(findings),
      lanes_per_warp_(lanes_per_warp),
      crowd_(Geometry::of_callers(crowd_size, simt::warp_size, lanes_per_warp)),
      few_(Geometry::of_callers(few_callers, simt::warp_size, lanes_per_warp)),
      budget_ends_(std::chrono::steady_clock::now() + reset_check_budget),
      slots_(stream, crowd_size) {}

std::string ResetCheck::run(const AllocatorHandle& own) {
  deadline_ = own.deadline();
  free_nulls_of(own.observed({}, {}));
  if (setting_.traits().fresh == Fresh::by_process) {
    return "waived: only a new process makes " + setting_.display_name() + " new";
  }
  if (std::optional<std::string> known = findings_.find(setting_, lanes_per_warp_)) return *known;
  for (std::size_t bytes = std::min(first_pool, setting_.pool_bytes);;
       bytes = std::min(bytes * 4, setting_.pool_bytes)) {
    if (std::optional<std::string> verdict = on_second_instance(bytes)) {
      findings_.keep(setting_, lanes_per_warp_, bytes, *verdict);
      return *verdict;
    }
    if (bytes == setting_.pool_bytes) break;
  }
  return "waived: no room for a second instance";
}

std::optional<std::string> ResetCheck::on_second_instance(std::size_t pool_bytes) {
  const std::size_t limit = setting_.allocator.functions.max_request(pool_bytes, setting_.parameters);
  request_bytes_ = std::min<std::uint64_t>(std::max<std::uint64_t>(pool_bytes / blocks_per_pool, 16), limit);
  if (setting_.traits().pool == PoolLocation::arena_and_device_heap) {
    request_bytes_ = std::min(request_bytes_, largest_in_pool);
  }
  if (request_bytes_ == 0) return std::nullopt;
  try {
    Small small(setting_, stream_, pool_bytes, deadline_);
    const AllocatorHandle& allocator = small.allocator;
    std::size_t from_new = drain(allocator, std::nullopt).size();
    if (from_new == 0) return std::nullopt;
    const auto reset = [&] { allocator.reset(stream_); };
    require_all(small, from_new, "a reset() of the full pool", reset);
    const auto verdict = [&](const std::string& word) {
      return word + ": " + blocks_text(from_new, request_bytes_) + " from a pool of " + bytes_text(pool_bytes);
    };
    if (out_of_time()) return verdict("partial: only a reset() of the full pool, within the time budget");

    if (setting_.traits().frees != Frees::in_bulk) {
      reset();
      require_nulls_ignored(small, from_new);
    }
    require_all(small, from_new, "a reset() and free(null)", [&] {
      reset();
      free_nulls(allocator);
    });
    if (out_of_time()) return verdict("partial: without frees before a reset(), within the time budget");
    if (setting_.traits().frees == Frees::individually) {
      require_all(small, from_new, "frees and a reset()", [&] {
        reset();
        free_every_second(allocator, drain(allocator, from_new), 0);
        reset();
      });
    }
    return verdict("checked");
  } catch (const Unsupported&) {
    return std::nullopt;
  } catch (const simt::Fault& fault) {
    if (fault.kind() == simt::FaultKind::out_of_memory) return std::nullopt;
    throw;
  }
}

std::size_t ResetCheck::least_served_by_new(std::size_t pool_bytes) {
  std::size_t least = most_blocks_counted;
  for (int i = 1; i < tries_to_judge; ++i) {
    const Small another(setting_, stream_, pool_bytes, deadline_);
    least = std::min(least, drain(another.allocator, std::nullopt).size());
  }
  return least;
}

template <class Prepare>
void ResetCheck::require_all(Small& small, std::size_t& from_new, const std::string& after, Prepare&& prepare) {
  std::size_t most = 0;
  std::size_t enough = from_new;
  for (int i = 0; i < tries_to_judge; ++i) {
    prepare();
    const Blocks served = drain(small.allocator, from_new);
    require_right(served, small.rules, after);
    most = std::max(most, served.size());
    if (most >= enough) return;
    if (i == 0) {
      const std::size_t first = from_new;
      from_new = std::min(first, least_served_by_new(small.arena.pool_bytes()));
      // If new instances differ, the search is random, and a few drains do not show the whole spread.
      const std::size_t spread = first - from_new;
      const std::size_t by_chance = std::min(std::max(4 * spread, from_new / 100), from_new / 4);
      enough = spread == 0 ? from_new : from_new - by_chance;
    }
  }
  throw CellFailure(Status::incorrect, "after " + after + " the pool serves " + blocks_text(most, request_bytes_) +
                                           "; a new one serves " + std::to_string(from_new) + " (pool of " +
                                           bytes_text(small.arena.pool_bytes()) + ")");
}

// Designs that free in bulk do not get this check: the kernel of frees ends with release_all(), after which they may
// reuse every block.
void ResetCheck::require_nulls_ignored(const Small& small, std::size_t from_new) {
  Blocks blocks = drain(small.allocator, from_new);
  free_nulls(small.allocator);
  for (RecordedBlock block : drain(small.allocator, 0)) {
    block.request = blocks.size();
    blocks.push_back(block);
  }
  require_right(blocks, small.rules, "free(null) in a full pool");
}

ResetCheck::Blocks ResetCheck::drain(const AllocatorHandle& allocator, std::optional<std::size_t> expected) {
  // A design that reuses blocks without a free never counts as drained, so the loop ends after half of the pool.
  const std::size_t most = setting_.traits().recycles_unfreed ? blocks_per_pool / 2 : most_blocks_counted;
  const std::size_t by_many = std::min(most, expected.value_or(blocks_per_pool / 2));
  const std::size_t by_few = std::min(most, expected.value_or(most));
  const Geometry& last = setting_.traits().whole_warp_calls ? few_ : lone_lane;
  Blocks blocks;
  while (blocks.size() + crowd_size <= by_many && one_round(allocator, crowd_, blocks) == crowd_size) {
  }
  while (blocks.size() + few_callers <= by_few && one_round(allocator, few_, blocks) == few_callers) {
  }
  for (int refusals = 0; blocks.size() < most && refusals < refusals_of_empty_pool;) {
    refusals = one_round(allocator, last, blocks) == 0 ? refusals + 1 : 0;
  }
  return blocks;
}

std::size_t ResetCheck::one_round(const AllocatorHandle& allocator, const Geometry& geometry, Blocks& blocks) {
  slots_.clear();
  allocator.launch<CallKernels>(stream_, geometry.shape(), AllocKernel{}, geometry, FixedSize{request_bytes_},
                                slots_.data());
  const std::size_t before = blocks.size();
  for (const RecordedBlock& block : slots_.blocks([&](std::size_t) { return request_bytes_; })) {
    if (block.address != 0) blocks.push_back({block.address, block.bytes, blocks.size()});
  }
  return blocks.size() - before;
}

void ResetCheck::free_every_second(const AllocatorHandle& allocator, const Blocks& blocks, std::size_t begin) {
  std::vector<void*> addresses(crowd_size);
  for (std::size_t first = begin; first < blocks.size(); first += 2 * crowd_size) {
    for (std::size_t i = 0; i < crowd_size; ++i) {
      const std::size_t block = first + 2 * i;
      addresses[i] = block < blocks.size() ? reinterpret_cast<void*>(blocks[block].address) : nullptr;
    }
    slots_.fill_from(addresses);
    allocator.launch<CallKernels>(stream_, crowd_.shape(), FreeKernel{}, crowd_, slots_.data());
  }
}

void ResetCheck::free_nulls(const AllocatorHandle& allocator) {
  slots_.clear();
  allocator.launch<CallKernels>(stream_, crowd_.shape(), FreeKernel{}, crowd_, slots_.data());
}

void ResetCheck::require_right(const Blocks& blocks, const PointerRules& rules, const std::string& when) {
  PointerCheck check(rules);
  check.check(blocks, PointerCheck::Live::together);
  if (!check.ok()) throw CellFailure(Status::incorrect, "after " + when + ": " + check.problem());
}

// Blocks are allocated before and after the nulls, so a block that is freed by mistake can be handed out a second time.
void ResetCheck::free_nulls_of(const AllocatorHandle& own) {
  constexpr std::uint64_t small_request = 64;
  request_bytes_ = std::min<std::uint64_t>(small_request, setting_.max_request());
  if (request_bytes_ == 0 || setting_.traits().frees == Frees::in_bulk) return;
  Blocks blocks;
  one_round(own, crowd_, blocks);
  free_nulls(own);
  one_round(own, crowd_, blocks);
  require_right(blocks, own_rules_, "free(null)");
  free_every_second(own, blocks, 0);
  free_every_second(own, blocks, 1);
}

}  // namespace allocbench
