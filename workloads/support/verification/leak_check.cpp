#include "workloads/support/verification/leak_check.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "allocators/support/contract/allocator.hpp"
#include "workloads/support/contract/outcome.hpp"
#include "workloads/support/kernels/call_kernels.hpp"
#include "workloads/support/verification/limited_requests.hpp"
#include "workloads/support/verification/pointer_check.hpp"

namespace allocbench {
namespace {

constexpr std::uint64_t least_rounds = 16;
constexpr std::uint64_t rounds_per_pool = 8;
constexpr std::uint64_t rounds_to_judge = 16;
constexpr std::uint32_t most_rounds_together = 16;
// Rounds of this many requests also show a steady leak, and take less time than rounds of a million requests.
constexpr std::uint32_t most_callers = 1 << 14;
using Clock = std::chrono::steady_clock;

}  // namespace

LeakCheck::LeakCheck(simt::Stream& stream, const RequestProfile& profile, const RunSetting& setting,
                     LeakFindings& findings, std::chrono::milliseconds budget)
    : stream_(stream),
      setting_(setting),
      findings_(findings),
      budget_(budget),
      profile_(limited(profile, most_callers)),
      sizes_(profile.sizes, stream) {}

LeakResult LeakCheck::run(const AllocatorHandle& own) {
  deadline_ = own.deadline();
  if (setting_.traits().frees == Frees::never)
    return {.verdict = "waived: " + setting_.display_name() + " never frees"};
  if (std::optional<LeakResult> known = findings_.find(setting_, profile_)) return *known;
  const RequestProfile asked = profile_;
  const bool in_device_heap = setting_.traits().pool == PoolLocation::device_heap;
  if (!in_device_heap) {
    if (std::optional<LeakResult> result = by_few_then_many([&] { return growing(); })) {
      findings_.keep(setting_, asked, instance_bytes_, *result);
      return *result;
    }
  }
  if (std::optional<LeakResult> result = by_few_then_many([&] { return rounds(own, setting_.pool_bytes); })) {
    if (in_device_heap) findings_.keep(setting_, asked, 0, *result);  // a process has one device heap
    return *result;
  }
  const std::uint32_t callers = for_slow_designs(profile_).geometry.callers;
  return {.verdict =
              "waived: the cell's own pool cannot serve " + std::to_string(callers) + " of its requests at once"};
}

std::optional<LeakResult> LeakCheck::by_few_then_many(const std::function<std::optional<LeakResult>()>& check) {
  const RequestProfile many = profile_;  // a round of many callers takes seconds with a slow design
  profile_ = for_slow_designs(many);
  const auto times = many.geometry.callers / profile_.geometry.callers;
  results_.emplace(stream_, profile_.geometry.callers, most_rounds_together);
  const std::optional<LeakResult> with_few = check();
  profile_ = many;
  if (times <= 1 || !with_few || !with_few->complete) return with_few;
  if (least_rounds * times * round_time_ > budget_) return with_few;
  results_.emplace(stream_, profile_.geometry.callers, most_rounds_together);
  const std::optional<LeakResult> with_many = check();
  return with_many && with_many->complete ? with_many : with_few;
}

// Returns the result of the first instance that is large enough for the design, or nothing if there is none.
std::optional<LeakResult> LeakCheck::growing() {
  constexpr std::size_t step = 64 * 1024;
  const std::size_t first = (profile_.bytes() * rounds_per_pool + step - 1) / step * step;
  for (; first * growth_ < setting_.pool_bytes; growth_ *= 8) {
    if (std::optional<LeakResult> result = on_second_instance(first * growth_)) return result;
  }
  return std::nullopt;
}

std::optional<LeakResult> LeakCheck::on_second_instance(std::size_t pool_bytes) {
  if (profile_.sizes.largest() > setting_.allocator.functions.max_request(pool_bytes, setting_.parameters)) {
    return std::nullopt;
  }
  try {
    Arena arena(stream_, pool_bytes);
    AllocatorHandle small(setting_.allocator, arena, setting_.parameters);
    small.end_calls_at(deadline_);
    std::optional<LeakResult> result = rounds(small, pool_bytes);
    const bool is_found = result && (result->complete || profile_.geometry.callers <= callers_of_slow_designs);
    const std::string broken = is_found ? small.broken_invariant(stream_) : std::string();
    if (!broken.empty()) throw CellFailure(Status::incorrect, "invariant broken after the leak check: " + broken);
    stream_.synchronize();
    if (result) instance_bytes_ = pool_bytes;
    return result;
  } catch (const Unsupported&) {
    return std::nullopt;
  } catch (const simt::Fault& fault) {
    if (fault.kind() == simt::FaultKind::out_of_memory) return std::nullopt;
    throw;
  }
}

std::optional<LeakResult> LeakCheck::rounds(const AllocatorHandle& bare, std::size_t pool_bytes) {
  const AllocatorHandle allocator = bare.observed({}, {});  // has the deadline of `bare`
  const std::uint64_t wanted = std::max(
      least_rounds, 2 * static_cast<std::uint64_t>(pool_bytes) / std::max<std::uint64_t>(profile_.bytes(), 1) + 1);
  const auto start = Clock::now();
  std::uint64_t done = 0;
  std::uint32_t together = 1;
  while (done < wanted) {
    const auto now = Clock::now();
    if (done > 0 && now > start + budget_) {
      return LeakResult{.rounds = done,
                        .verdict = "partial: " + std::to_string(done) + " of " + std::to_string(wanted) +
                                   " rounds within the time budget",
                        .callers = profile_.geometry.callers,
                        .complete = false};
    }
    together = static_cast<std::uint32_t>(std::min<std::uint64_t>(together, wanted - done));
    const Nulls nulls = several_rounds(allocator, together);
    if (nulls.all != 0) {
      if (done == 0) return std::nullopt;
      return judge(allocator, pool_bytes, done + together, nulls);
    }
    done += together;
    round_time_ = (Clock::now() - now) / together;
    if (8 * (Clock::now() - now) < budget_) together = std::min(2 * together, most_rounds_together);
  }
  return LeakResult{.rounds = wanted, .verdict = "checked", .callers = profile_.geometry.callers};
}

// A steady leak refuses almost three times as many requests in the second half of the remaining rounds as in the first
// half, and more in the last round than in any other. Occasional refusals do not grow. Lost memory stays lost, so every
// round of the last quarter has at least half as many nulls as the worst round. A search that gives up early in a full
// pool can refuse whole warps, so its counts vary from round to round.
LeakResult LeakCheck::judge(const AllocatorHandle& allocator, std::size_t pool_bytes, std::uint64_t done,
                            const Nulls& first) {
  std::uint64_t most = first.most;
  std::uint64_t last = first.most;
  std::uint64_t in_half[2] = {0, 0};
  std::uint64_t fewest_late = std::numeric_limits<std::uint64_t>::max();
  for (std::uint64_t i = 0; i < rounds_to_judge; ++i) {
    last = several_rounds(allocator, 1).all;
    most = std::max(most, last);
    in_half[2 * i / rounds_to_judge] += last;
    if (4 * i >= 3 * rounds_to_judge) fewest_late = std::min(fewest_late, last);
  }
  const std::string where = " of " + std::to_string(profile_.geometry.callers) + " requests returned null in rounds " +
                            std::to_string(done) + " to " + std::to_string(done + rounds_to_judge) +
                            " of allocating and freeing the same blocks (" + bytes_text(profile_.bytes()) +
                            " per round, pool of " + bytes_text(pool_bytes) + ")";
  const std::uint64_t few = std::max<std::uint64_t>(profile_.geometry.callers / 100, 1);
  const bool grows = in_half[1] >= 2 * in_half[0] + rounds_to_judge / 2;
  const bool lasts = 2 * fewest_late >= most;
  if (lasts && (most > few || grows)) {
    throw CellFailure(Status::incorrect,
                      "leak: at most " + std::to_string(most) + ", at last " + std::to_string(last) + where);
  }
  return {.rounds = done + rounds_to_judge,
          .verdict = "checked: at most " + std::to_string(most) + where + ", no leak",
          .spurious_nulls = first.all + in_half[0] + in_half[1],
          .callers = profile_.geometry.callers};
}

// Waits once for all rounds, because waiting for each round would take most of the time on a GPU.
LeakCheck::Nulls LeakCheck::several_rounds(const AllocatorHandle& allocator, std::uint32_t rounds) {
  const simt::LaunchShape shape = profile_.geometry.shape();
  for (std::uint32_t round = 0; round < rounds; ++round) {
    void** const row = results_->row(round);
    sizes_.visit([&](auto sizes) {
      allocator.launch<CallKernels>(stream_, shape, AllocKernel{}, profile_.geometry, sizes, row);
    });
    allocator.launch<CallKernels>(stream_, shape, FreeKernel{}, profile_.geometry, row);
  }
  Nulls nulls{.all = results_->holding(nullptr, 0, rounds)};
  if (nulls.all == 0) return nulls;
  for (std::uint32_t round = 0; round < rounds; ++round) {
    nulls.most = std::max(nulls.most, results_->holding(nullptr, round, round + 1));
  }
  return nulls;
}

}  // namespace allocbench
