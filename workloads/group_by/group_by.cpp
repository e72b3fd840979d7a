#include "workloads/group_by/group_by.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "workloads/group_by/group_steps.hpp"
#include "workloads/support/callers/requirements.hpp"
#include "workloads/support/contract/outcome.hpp"
#include "workloads/support/kernels/call_kernels.hpp"
#include "workloads/support/occupancy/pre_occupation.hpp"
#include "workloads/support/verification/recorded_pointers.hpp"

namespace allocbench {
namespace {

using namespace group;

constexpr std::uint32_t passes = 4;

class GroupByRun final : public WorkloadRun {
 public:
  GroupByRun(const GroupBy::Parameters& parameters, const RunSetting& setting, simt::Stream& stream)
      : stream_(stream),
        type_(setting.allocator),
        parameters_(parameters),
        steps_(stream, {parameters.input, parameters.keys, parameters.exponent, setting.seed}, parameters.page_bytes,
               parameters.group_method()),
        occupation_(setting, parameters.page_bytes, parameters.uses_pages() ? parameters.free_share : 1, stream),
        table_slots_(stream, parameters.table_bytes == 0 ? 0 : GroupSteps::most_tables(parameters.keys), passes),
        tail_blocks_(2 * stream.device().properties().sm_count) {}

  void prepare() override {
    steps_.prepare();
    table_slots_.poison();
    tables_.fill(0);
  }

  void sample(const AllocatorHandle& allocator, PhaseTimer& timer) override {
    static constexpr std::string_view names[] = {"pass1", "pass2", "pass3", "pass4"};
    if (parameters_.group_method() == GroupMethod::sort) {
      timer.phase("total", 0, [&] { steps_.sort_and_encode(); });
      return;
    }
    if (!parameters_.uses_pages()) {
      for (std::uint32_t pass = 0; pass < passes; ++pass) {
        timer.phase(names[pass], 0, [&] { steps_.count_and_write(pass); });
      }
      timer.sum("total", {names[0], names[1], names[2], names[3]});
      return;
    }
    occupation_.enter(allocator);
    bool whole = true;
    std::uint64_t frees = 0;
    for (std::uint32_t pass = 0; pass < passes && whole; ++pass) {
      const std::uint64_t mallocs = tails() ? steps_.expected().pages[pass] : 0;  // as the host predicts
      timer.phase(names[pass], 0, [&] { whole = split(allocator, pass); });
      timer.set_operations(names[pass], mallocs + frees + std::uint64_t{2} * tables_[pass]);
      frees = mallocs;
    }
    steps_.read_lists();
    timer.phase("free", frees, [&] { free_lists(allocator, steps_.last()); });
    occupation_.leave(allocator);
    if (!whole) return;
    timer.sum("total", {names[0], names[1], names[2], names[3]});
    if (tails()) {
      const std::uint64_t* const pages = steps_.expected().pages;
      const std::uint64_t tables = std::uint64_t{tables_[0]} + tables_[1] + tables_[2] + tables_[3];
      timer.counter("mallocs", pages[0] + pages[1] + pages[2] + pages[3] + tables);
    }
  }

  void check_recorded(PointerCheck& check) const override {
    const std::vector<RecordedBlock> tables =
        table_slots_.blocks([this](std::size_t) { return std::uint64_t{parameters_.table_bytes}; });
    for (std::uint32_t pass = 0; pass < passes; ++pass) {
      const auto first = tables.begin() + static_cast<std::ptrdiff_t>(std::size_t{pass} * table_slots_.callers());
      check.check({first, first + tables_[pass]}, PointerCheck::Live::together);
    }
    check.check(steps_.page_blocks(), PointerCheck::Live::together);
    if (check.ok() && check.nulls() == 0) fail_if_wrong("groups", steps_.problem());
  }

  RequestProfile requests() const override {
    return {Geometry::of_callers(std::min(parameters_.keys, 1u << 20), block_threads, simt::warp_size),
            RequestSizes::fixed(parameters_.page_bytes)};
  }
  std::optional<std::uint64_t> largest_request() const override {
    return std::max<std::uint64_t>(parameters_.page_bytes, parameters_.table_bytes);
  }
  std::uint64_t mallocs_at_most() const override {
    return std::uint64_t{passes} * (parameters_.keys + table_slots_.callers());
  }

  std::vector<KernelInfo> kernels() const override {
    return {tails() ? kernel_info<GroupByKernels, LongTailsKernel, LongInput, TailTables, PageFormat, bool, Directory,
                                  PageFaults*>("pass1", type_)
                    : kernel_info<GroupByKernels, RunsKernel, RunsInput, TailTables, std::uint32_t, PageFormat, bool,
                                  Lists, PageFaults*>("pass1", type_),
            kernel_info<GroupByKernels, ShortKernel, const List*, std::uint32_t, std::uint32_t, PageFormat, bool, Lists,
                        PageFaults*>("pass4", type_)};
  }

 private:
  bool tails() const { return parameters_.group_method() == GroupMethod::tails; }

  static simt::LaunchShape grid(std::uint32_t blocks, std::size_t shared_bytes = 0) {
    constexpr std::uint32_t most_blocks_of_pass = 1 << 16;
    return {std::min(blocks, most_blocks_of_pass), block_threads, shared_bytes};
  }

  // Runs one pass. Returns false if memory ran out.
  bool split(const AllocatorHandle& allocator, std::uint32_t pass) {
    GroupPass work = steps_.begin_pass(pass);
    if (!get_tables(allocator, pass, work)) {
      free_lists(allocator, work);
      steps_.end_pass();
      return false;
    }
    if (tails()) {
      split_by_tails(allocator, pass, work);
    } else {
      split_by_runs(allocator, pass, work);
    }
    if (work.shorts != 0) {
      const List* const shorts = work.lists.shorts;
      allocator.launch<GroupByKernels>(stream_, grid((work.shorts - 1) / block_threads + 1), ShortKernel{}, shorts,
                                       work.shorts, pass, steps_.format(), parameters_.early_frees(), steps_.made(),
                                       steps_.faults());
    }
    steps_.collect();
    free_tables(allocator, pass);
    if (!parameters_.early_frees()) free_lists(allocator, work);
    return steps_.end_pass();
  }

  // Gets the tables of the long lists, from the allocator if `table_bytes` is set. Returns false if a request failed.
  bool get_tables(const AllocatorHandle& allocator, std::uint32_t pass, GroupPass& work) {
    if (parameters_.table_bytes == 0 || work.longs == 0) {
      steps_.clear_tables(work, nullptr);
      return true;
    }
    tables_[pass] = work.longs;
    void** const blocks = table_slots_.row(pass);
    const Geometry geometry = table_callers(pass);
    allocator.launch<CallKernels>(stream_, geometry.shape(), AllocKernel{}, geometry,
                                  FixedSize{parameters_.table_bytes}, blocks);
    std::vector<void*> found(work.longs);
    simt::copy_to_host(stream_, found.data(), blocks, found.size() * sizeof(void*));
    if (std::find(found.begin(), found.end(), nullptr) == found.end()) {
      steps_.clear_tables(work, blocks);
      return true;
    }
    free_tables(allocator, pass);
    return false;
  }

  void free_tables(const AllocatorHandle& allocator, std::uint32_t pass) {
    if (tables_[pass] == 0) return;
    const Geometry geometry = table_callers(pass);
    void** const blocks = table_slots_.row(pass);
    allocator.launch<CallKernels>(stream_, geometry.shape(), FreeKernel{}, geometry, blocks);
  }
  Geometry table_callers(std::uint32_t pass) const {
    return Geometry::of_callers(tables_[pass], block_threads, simt::warp_size);
  }

  void split_by_tails(const AllocatorHandle& allocator, std::uint32_t pass, const GroupPass& work) {
    if (work.longs != 0) {
      const std::uint32_t blocks = std::min((work.long_input.items - 1) / block_warps + 1, tail_blocks_);
      allocator.launch<GroupByKernels>(stream_, grid(blocks), LongTailsKernel{}, work.long_input, steps_.tables(),
                                       steps_.format(), parameters_.early_frees(), steps_.made().directory,
                                       steps_.faults());
    }
    if (work.mediums != 0) {
      const List* const mediums = work.lists.mediums;
      allocator.launch<GroupByKernels>(stream_, grid(work.mediums, sizeof(MediumTailsKernel::Shared)),
                                       MediumTailsKernel{}, mediums, work.mediums, pass, steps_.format(),
                                       parameters_.early_frees(), steps_.made(), steps_.faults());
    }
  }

  void split_by_runs(const AllocatorHandle& allocator, std::uint32_t pass, const GroupPass& work) {
    const auto run = [&](const RunsInput& input) {
      allocator.launch<GroupByKernels>(stream_, grid(input.count, RunsKernel::shared_bytes(steps_.format())),
                                       RunsKernel{}, input, steps_.tables(), pass, steps_.format(),
                                       parameters_.early_frees(), steps_.made(), steps_.faults());
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
  RecordedPointers table_slots_;                // a row per pass
  std::array<std::uint32_t, passes> tables_{};  // number of tables that each pass requested
  // The grid of LongTailsKernel has two blocks per multiprocessor, because more warps would mostly wait for pages and
  // slow down the warps that provide them.
  std::uint32_t tail_blocks_;
};

}  // namespace

std::string GroupBy::unsupported(const Parameters& p, const RunSetting& setting) {
  if (p.table_bytes != 0 && p.table_bytes < table_tail_bytes) {
    throw std::invalid_argument("table_bytes is " + std::to_string(p.table_bytes) + ", allowed: 0 or at least " +
                                std::to_string(table_tail_bytes));
  }
  if (!p.uses_pages()) return {};
  const Geometry callers = Geometry::of_callers(p.keys, block_threads, 1);  // lanes need pages at different times
  std::string tables = why_unsupported(callers, p.table_bytes, setting);
  if (!tables.empty()) return tables;
  // In the worst case every record has its own page in two successive passes, or in all four if nothing is freed.
  const std::uint64_t kept = setting.traits().frees == Frees::never ? passes : 2;
  const std::uint64_t bytes = kept * (p.keys * p.page_bytes + p.keys / 512 * p.table_bytes);
  return why_pages_unsupported(p, bytes, callers, setting);
}

std::unique_ptr<WorkloadRun> GroupBy::open(const Parameters& parameters, const RunSetting& setting,
                                           simt::Stream& stream) {
  return std::make_unique<GroupByRun>(parameters, setting, stream);
}

}  // namespace allocbench
