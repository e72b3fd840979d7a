#include "workloads/streams/streams.hpp"

#include "workloads/streams/kernels.hpp"
#include "workloads/support/contract/outcome.hpp"
#include "workloads/support/kernels/call_kernels.hpp"
#include "workloads/support/verification/recorded_pointers.hpp"

namespace allocbench {
namespace {

RoleKernel role_of(const std::string& roles, std::uint32_t kernel) {
  constexpr RoleKernel allocate{.frees = false, .allocates = true};
  constexpr RoleKernel free{.frees = true, .allocates = false};
  constexpr RoleKernel both{.frees = true, .allocates = true};
  if (roles == "allocate") return allocate;
  if (roles == "free") return free;
  if (roles == "both") return both;
  constexpr RoleKernel in_turn[] = {allocate, free, both};
  return in_turn[kernel % 3];
}

using Launch = std::tuple<RoleKernel, Geometry, FixedSize, void**, void**>;

// Each kernel of a phase has a row for the blocks that it frees and a row for those that it allocates.
class StreamsRun final : public WorkloadRun {
 public:
  StreamsRun(const Streams::Parameters& parameters, const RunSetting& setting, simt::Stream& stream)
      : stream_(stream),
        type_(setting.allocator),
        geometry_(parameters.geometry()),
        size_{parameters.request_bytes},
        together_(stream, geometry_, parameters),
        alone_(stream, geometry_, parameters),
        streams_(stream.device(), parameters.kernels) {
    for (std::uint32_t kernel = 0; kernel < parameters.kernels; ++kernel) {
      roles_.push_back(role_of(parameters.roles, kernel));
      calls_ += std::uint64_t{geometry_.callers} * (roles_.back().frees + roles_.back().allocates);
      made_rows_ += roles_.back().frees + roles_.back().allocates;
    }
  }

  void prepare() override {
    together_.poison();
    alone_.poison();
  }

  void sample(const AllocatorHandle& allocator, PhaseTimer& timer) override {
    const std::vector<Launch> together = launches(together_);
    make_earlier(allocator, together_);
    timer.phase("streams", calls_,
                [&] { allocator.launch_together<StreamsKernels>(stream_, streams_, geometry_.shape(), together); });
    free_made(allocator, together_);
    make_earlier(allocator, alone_);
    timer.phase("one_stream", calls_, [&] {
      for (const auto& [kernel, geometry, size, earlier, blocks] : launches(alone_)) {
        allocator.launch<StreamsKernels>(stream_, geometry_.shape(), kernel, geometry, size, earlier, blocks);
      }
    });
    free_made(allocator, alone_);
  }

  void check_recorded(PointerCheck& check) const override {
    for (const Rows* rows : {&together_, &alone_}) {
      for (std::uint32_t first = 0; first < 2; ++first) judge(check, *rows, first == 0);
    }
  }

  RequestProfile requests() const override {
    const Geometry all = Geometry::of_callers(static_cast<std::uint32_t>(roles_.size()) * geometry_.callers,
                                              geometry_.threads_per_block, geometry_.lanes_per_warp);
    return {all, RequestSizes::fixed(size_.bytes)};
  }
  std::optional<std::uint64_t> largest_request() const override { return size_.bytes; }
  std::uint64_t mallocs_at_most() const override { return 2 * made_rows_ * geometry_.callers; }
  std::vector<KernelInfo> kernels() const override {
    return {kernel_info<StreamsKernels, RoleKernel, Geometry, FixedSize, void**, void**>("streams", type_)};
  }

 private:
  struct Rows {
    Rows(simt::Stream& stream, const Geometry& geometry, const Streams::Parameters& parameters)
        : earlier(stream, geometry.callers, parameters.kernels), blocks(stream, geometry.callers, parameters.kernels) {}
    void poison() {
      earlier.poison();
      blocks.poison();
    }
    RecordedPointers earlier;
    RecordedPointers blocks;
  };

  std::vector<Launch> launches(const Rows& rows) const {
    std::vector<Launch> all;
    for (std::uint32_t kernel = 0; kernel < roles_.size(); ++kernel) {
      all.emplace_back(roles_[kernel], geometry_, size_, rows.earlier.row(kernel), rows.blocks.row(kernel));
    }
    return all;
  }

  // Allocates the blocks that the kernels of a phase free.
  void make_earlier(const AllocatorHandle& allocator, const Rows& rows) const {
    allocator.begin(Stage::fill);
    for (std::uint32_t kernel = 0; kernel < roles_.size(); ++kernel) {
      if (!roles_[kernel].frees) continue;
      allocator.launch<CallKernels>(stream_, geometry_.shape(), AllocKernel{}, geometry_, size_,
                                    rows.earlier.row(kernel));
    }
  }
  void free_made(const AllocatorHandle& allocator, const Rows& rows) const {
    allocator.begin(Stage::drain);
    for (std::uint32_t kernel = 0; kernel < roles_.size(); ++kernel) {
      if (!roles_[kernel].allocates) continue;
      allocator.launch<CallKernels>(stream_, geometry_.shape(), FreeKernel{}, geometry_, rows.blocks.row(kernel));
    }
  }

  // Checks the rows that were written. Their blocks are in use together.
  void judge(PointerCheck& check, const Rows& rows, bool earlier) const {
    const RecordedPointers& recorded = earlier ? rows.earlier : rows.blocks;
    std::vector<SlotRange> written;
    for (std::uint32_t kernel = 0; kernel < roles_.size(); ++kernel) {
      if (!(earlier ? roles_[kernel].frees : roles_[kernel].allocates)) continue;
      written.push_back({.slots = recorded.row(kernel), .count = geometry_.callers, .sizes = {size_.bytes}});
    }
    const std::uint64_t count = written.size() * geometry_.callers;
    if (const auto nulls = slot_check_.nulls_if_right(stream_, written, check.rules(), PointerCheck::Live::together)) {
      check.add_right(count, *nulls, count * size_.bytes);
    } else {
      check.check(blocks_of(recorded, earlier), PointerCheck::Live::together);
    }
    check.explain_nulls({made_rows_ * geometry_.callers, made_rows_ * geometry_.callers * size_.bytes},
                        PointerCheck::Live::together);
  }

  std::vector<RecordedBlock> blocks_of(const RecordedPointers& recorded, bool earlier) const {
    std::vector<RecordedBlock> written;
    const std::vector<RecordedBlock> all = recorded.blocks([&](std::size_t) { return size_.bytes; });
    for (std::uint32_t kernel = 0; kernel < roles_.size(); ++kernel) {
      if (!(earlier ? roles_[kernel].frees : roles_[kernel].allocates)) continue;
      const auto begin = all.begin() + static_cast<std::ptrdiff_t>(std::size_t{kernel} * geometry_.callers);
      written.insert(written.end(), begin, begin + geometry_.callers);
    }
    return written;
  }

  simt::Stream& stream_;
  const AllocatorType& type_;
  Geometry geometry_;
  FixedSize size_;
  std::vector<RoleKernel> roles_;
  std::uint64_t calls_ = 0;
  std::uint64_t made_rows_ = 0;
  Rows together_;
  Rows alone_;
  ParallelStreams streams_;
  mutable SlotCheck slot_check_;  // memory of the check
};

}  // namespace

std::string Streams::unsupported(const Parameters& parameters, const RunSetting& setting) {
  if (setting.traits().frees == Frees::in_bulk) {
    return setting.display_name() + " frees all blocks of a session at once; here kernels free blocks of others";
  }
  if (setting.allocator.functions.keeps_sessions) {
    return setting.display_name() +
           " keeps a state for each thread or warp by its place in the grid; kernels that run at once would share it";
  }
  return why_unsupported(parameters.geometry(), parameters.request_bytes, setting);
}

std::unique_ptr<WorkloadRun> Streams::open(const Parameters& parameters, const RunSetting& setting,
                                           simt::Stream& stream) {
  return std::make_unique<StreamsRun>(parameters, setting, stream);
}

}  // namespace allocbench
