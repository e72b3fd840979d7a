#include "workloads/group_by/group_by.hpp"

#include <algorithm>

#include "workloads/common/pre_occupation.hpp"
#include "workloads/contract/outcome.hpp"
#include "workloads/group_by/group_steps.hpp"

namespace allocbench {
namespace {

using namespace group;

class GroupByRun final : public WorkloadRun {
 public:
  GroupByRun(const GroupBy::Parameters& parameters, const RunSetting& setting, simt::Stream& stream)
      : stream_(stream),
        type_(setting.allocator),
        parameters_(parameters),
        steps_(stream, {parameters.input, parameters.keys, parameters.exponent, setting.seed}, parameters.page_bytes,
               parameters.group_method()),
        occupation_(setting, parameters.page_bytes, parameters.uses_pages() ? parameters.free_share : 1, stream),
        tail_blocks_(2 * stream.device().properties().sm_count) {}

  void prepare() override { steps_.prepare(); }

  void sample(const AllocatorHandle& allocator, PhaseTimer& timer) override {
    if (!parameters_.uses_pages()) {
      timer.phase("total", 0, [&] { steps_.sort_and_encode(); });
      return;
    }
    occupation_.enter(allocator);
    static constexpr std::string_view names[] = {"pass1", "pass2", "pass3", "pass4"};
    bool whole = true;
    std::uint64_t frees = 0;
    for (std::uint32_t pass = 0; pass < 4 && whole; ++pass) {
      const std::uint64_t mallocs = tails() ? steps_.expected().pages[pass] : 0;  // as the host has foreseen
      timer.phase(names[pass], mallocs + frees, [&] { whole = split(allocator, pass); });
      frees = mallocs;
    }
    steps_.read_lists();
    timer.phase("free", frees, [&] { free_lists(allocator, steps_.last()); });
    occupation_.leave(allocator);
    if (!whole) return;
    timer.sum("total", {names[0], names[1], names[2], names[3]});
    if (tails()) {
      const std::uint64_t* const pages = steps_.expected().pages;
      timer.counter("mallocs", pages[0] + pages[1] + pages[2] + pages[3]);
    }
  }

  void check_recorded(PointerCheck& check) const override {
    check.check(steps_.page_blocks(), PointerCheck::Live::together);
    if (check.ok() && check.nulls() == 0) fail_if_wrong("groups", steps_.problem());
  }

  RequestProfile requests() const override {
    return {Geometry::of_callers(std::min(parameters_.keys, 1u << 20), block_threads, simt::warp_size),
            RequestSizes::fixed(parameters_.page_bytes)};
  }
  std::uint64_t mallocs_at_most() const override { return std::uint64_t{4} * parameters_.keys; }

  std::vector<KernelInfo> kernels() const override {
    return {
        tails()
            ? kernel_info<GroupByKernels, LongTailsKernel, LongInput, Tail*, PageFormat, Directory, PageFaults*>(
                  "pass1", type_)
            : kernel_info<GroupByKernels, RunsKernel, RunsInput, Tail*, std::uint32_t, PageFormat, Lists, PageFaults*>(
                  "pass1", type_),
        kernel_info<GroupByKernels, ShortKernel, const List*, std::uint32_t, std::uint32_t, PageFormat, Lists,
                    PageFaults*>("pass4", type_)};
  }

 private:
  bool tails() const { return parameters_.group_method() == GroupMethod::tails; }

  static simt::LaunchShape grid(std::uint32_t blocks, std::size_t shared_bytes = 0) {
    constexpr std::uint32_t most_blocks_of_pass = 1 << 16;
    return {std::min(blocks, most_blocks_of_pass), block_threads, shared_bytes};
  }

  // One pass; false when memory ran out.
  bool split(const AllocatorHandle& allocator, std::uint32_t pass) {
    const GroupPass work = steps_.begin_pass(pass);
    if (tails()) {
      split_by_tails(allocator, pass, work);
    } else {
      split_by_runs(allocator, pass, work);
    }
    if (work.shorts != 0) {
      const List* const shorts = work.lists.shorts;
      allocator.launch<GroupByKernels>(stream_, grid((work.shorts - 1) / block_threads + 1), ShortKernel{}, shorts,
                                       work.shorts, pass, steps_.format(), steps_.made(), steps_.faults());
    }
    steps_.collect();
    free_lists(allocator, work);
    return steps_.end_pass();
  }

  void split_by_tails(const AllocatorHandle& allocator, std::uint32_t pass, const GroupPass& work) {
    if (work.longs != 0) {
      const std::uint32_t blocks = std::min((work.long_input.items - 1) / block_warps + 1, tail_blocks_);
      allocator.launch<GroupByKernels>(stream_, grid(blocks), LongTailsKernel{}, work.long_input, steps_.tails(),
                                       steps_.format(), steps_.made().directory, steps_.faults());
    }
    if (work.mediums != 0) {
      const List* const mediums = work.lists.mediums;
      allocator.launch<GroupByKernels>(stream_, grid(work.mediums, sizeof(MediumTailsKernel::Shared)),
                                       MediumTailsKernel{}, mediums, work.mediums, pass, steps_.format(), steps_.made(),
                                       steps_.faults());
    }
  }

  void split_by_runs(const AllocatorHandle& allocator, std::uint32_t pass, const GroupPass& work) {
    const auto run = [&](const RunsInput& input) {
      allocator.launch<GroupByKernels>(stream_, grid(input.count, RunsKernel::shared_bytes(steps_.format())),
                                       RunsKernel{}, input, steps_.tails(), pass, steps_.format(), steps_.made(),
                                       steps_.faults());
    };
    if (work.longs != 0) run(work.tiles);
    if (work.mediums != 0) run({work.lists.mediums, nullptr, work.mediums, {}});
  }

  void free_lists(const AllocatorHandle& allocator, const GroupPass& work) {
    const std::uint32_t most = std::max({work.shorts, work.mediums, work.entries});
    if (most == 0) return;
    allocator.launch<GroupByKernels>(stream_, grid((most - 1) / block_threads + 1), FreeListsKernel{}, work.lists,
                                     work.shorts, work.mediums, work.entries);
  }

  simt::Stream& stream_;
  const AllocatorType& type_;
  GroupBy::Parameters parameters_;
  GroupSteps steps_;
  PreOccupation occupation_;
  // Two blocks per multiprocessor: a few thousand records in flight keep all tails busy. More warps would only wait for
  // pages and slow down the warps that bring them.
  std::uint32_t tail_blocks_;
};

}  // namespace

std::string GroupBy::unsupported(const Parameters& p, const RunSetting& setting) {
  if (!p.uses_pages()) return {};
  // In the worst case every record has a page of its own in two successive passes, or in all four if nothing is freed.
  const std::uint64_t most_pages = std::uint64_t{setting.traits().frees == Frees::never ? 4u : 2u} * p.keys;
  // Lanes need pages at different times.
  return why_pages_unsupported(p, most_pages * p.page_bytes, Geometry::of_callers(p.keys, block_threads, 1), setting);
}

std::unique_ptr<WorkloadRun> GroupBy::open(const Parameters& parameters, const RunSetting& setting,
                                           simt::Stream& stream) {
  return std::make_unique<GroupByRun>(parameters, setting, stream);
}

}  // namespace allocbench
