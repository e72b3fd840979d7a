#include "workloads/two_phase/two_phase.hpp"

#include "workloads/support/kernels/several_kernels.hpp"
#include "workloads/support/random/probability_steps.hpp"
#include "workloads/support/requests/device_sizes.hpp"
#include "workloads/support/verification/recorded_pointers.hpp"

namespace allocbench {
namespace {

// With this limit, the pointer array has at most 1 GiB, and every index fits into 32 bits.
constexpr std::uint64_t most_pointers_of_two_phase = 1ull << 27;

class TwoPhaseRun final : public WorkloadRun {
 public:
  TwoPhaseRun(const TwoPhase::Parameters& parameters, const RunSetting& setting, simt::Stream& stream)
      : stream_(stream),
        type_(setting.allocator),
        parameters_(parameters),
        blocks_per_thread_(static_cast<std::uint32_t>(parameters.blocks_per_thread())),
        cycles_(static_cast<std::uint32_t>(parameters.cycles_of_thread())),
        takes_part_host_(participants(setting.seed, draw_of_callers(parameters.geometry(), parameters.divergence),
                                      parameters.share)),
        takes_part_(parameters.share < 1 ? takes_part_host_.size() : 0),
        sizes_(parameters.request_sizes(static_cast<std::uint32_t>(parameters.live_blocks()), setting.seed), stream),
        results_(stream, parameters.threads, blocks_per_thread_ * cycles_) {
    if (takes_part_.size() != 0) takes_part_.from_host(stream, takes_part_host_);
  }

  void prepare() override { results_.poison(); }

  void sample(const AllocatorHandle& allocator, PhaseTimer& timer) override {
    const std::uint64_t mallocs = participating() * blocks_per_thread_ * cycles_;
    const simt::LaunchShape shape = calls().geometry.shape();
    if (parameters_.is_private()) {
      // An observed allocator has filled the blocks, and its bytes must stay.
      const std::uint32_t written_words = allocator.is_observed() ? 0 : parameters_.write_bytes / 4;
      timer.phase("total", 2 * mallocs, [&] {
        allocator.launch<SeveralKernels>(stream_, shape, CycleSeveralKernel{}, calls(), sizes_.any(), cycles_,
                                         written_words, results_.data());
      });
    } else {
      timer.phase("alloc", mallocs, [&] {
        allocator.launch<SeveralKernels>(stream_, shape, AllocSeveralKernel{}, calls(), sizes_.any(), results_.data());
      });
      timer.phase("free", mallocs, [&] {
        allocator.launch<SeveralKernels>(stream_, shape, FreeSeveralKernel{}, calls(), results_.data());
      });
    }
    timer.counter("requested_bytes", requested_bytes());
  }

  void check_recorded(PointerCheck& check) const override {
    judge(check);
    if (takes_part_.size() != 0) return;  // fewer blocks are live at once than requests() says
    check.explain_nulls({parameters_.live_blocks(), requests().bytes()},
                        parameters_.is_private() ? PointerCheck::Live::separately : PointerCheck::Live::together);
  }

  RequestProfile requests() const override {
    const auto blocks = static_cast<std::uint32_t>(parameters_.live_blocks());
    return {Geometry::of_callers(blocks, parameters_.threads_per_block, parameters_.lanes_per_warp), sizes_.host()};
  }
  std::optional<std::uint64_t> largest_request() const override { return requests().sizes.largest(); }
  std::uint64_t mallocs_at_most() const override { return parameters_.live_blocks() * cycles_; }

  std::vector<KernelInfo> kernels() const override {
    if (parameters_.is_private()) {
      return {
          kernel_info<SeveralKernels, CycleSeveralKernel, SeveralCalls, AnySize, std::uint32_t, std::uint32_t, void**>(
              "total", type_)};
    }
    return {kernel_info<SeveralKernels, AllocSeveralKernel, SeveralCalls, AnySize, void**>("alloc", type_),
            kernel_info<SeveralKernels, FreeSeveralKernel, SeveralCalls, void**>("free", type_)};
  }

 private:
  void judge(PointerCheck& check) const {
    const std::uint64_t live = parameters_.live_blocks();
    const bool in_sets = parameters_.is_private() && blocks_per_thread_ > 1;
    if (!in_sets && judged_on_device(check)) return;
    std::vector<RecordedBlock> recorded = results_.blocks([](std::size_t) { return std::uint64_t{0}; });
    std::erase_if(recorded, [&](const RecordedBlock& block) {
      return !takes_part_host_[block.request % live % parameters_.threads];
    });
    for (RecordedBlock& block : recorded) block.bytes = sizes_.host()[block.request % live];
    if (!parameters_.is_private()) {
      check.check(recorded, PointerCheck::Live::together);
      return;
    }
    check.check(recorded, PointerCheck::Live::separately);
    if (in_sets) check_sets(check, recorded);
  }

  SeveralCalls calls() const {
    return {parameters_.geometry(), blocks_per_thread_, takes_part_.size() == 0 ? nullptr : takes_part_.data()};
  }
  std::uint64_t participating() const {
    return static_cast<std::uint64_t>(std::count(takes_part_host_.begin(), takes_part_host_.end(), 1));
  }

  bool judged_on_device(PointerCheck& check) const {
    SlotRange range = results_.range(sizes_.any(), parameters_.live_blocks());
    range.takes_part = takes_part_.size() == 0 ? nullptr : takes_part_.data();
    range.callers = parameters_.threads;
    const auto live = parameters_.is_private() ? PointerCheck::Live::separately : PointerCheck::Live::together;
    const auto nulls = slot_check_.nulls_if_right(stream_, {&range, 1}, check.rules(), live);
    if (nulls) check.add_right(participating() * blocks_per_thread_ * cycles_, *nulls, requested_bytes());
    return nulls.has_value();
  }

  // Returns the bytes that the mallocs of a sample request.
  std::uint64_t requested_bytes() const {
    if (sizes_.host().is_fixed()) {
      return participating() * blocks_per_thread_ * cycles_ * sizes_.host().fixed_bytes();
    }
    std::uint64_t bytes = 0;
    for (std::uint64_t slot = 0; slot < parameters_.live_blocks(); ++slot) {
      if (takes_part_host_[slot % parameters_.threads]) bytes += sizes_.host()[slot];
    }
    return bytes * cycles_;
  }

  // The blocks of one thread and cycle are live together. Other threads may have freed theirs.
  void check_sets(PointerCheck& check, std::vector<RecordedBlock>& recorded) const {
    const auto set_of = [&](const RecordedBlock& block) {
      return std::pair{block.request % parameters_.threads, block.request / parameters_.live_blocks()};
    };
    std::sort(recorded.begin(), recorded.end(),
              [&](const RecordedBlock& a, const RecordedBlock& b) { return set_of(a) < set_of(b); });
    for (auto first = recorded.begin(); first != recorded.end(); first += blocks_per_thread_) {
      check.check_overlap_only({first, first + blocks_per_thread_});
    }
  }

  simt::Stream& stream_;
  const AllocatorType& type_;
  TwoPhase::Parameters parameters_;
  std::uint32_t blocks_per_thread_;
  std::uint32_t cycles_;
  std::vector<std::uint8_t> takes_part_host_;
  simt::Buffer<std::uint8_t> takes_part_;  // empty if all callers take part
  DeviceSizes sizes_;
  RecordedPointers results_;
  mutable SlotCheck slot_check_;  // memory of the check
};

}  // namespace

std::string TwoPhase::unsupported(const Parameters& parameters, const RunSetting& setting) {
  if (parameters.live_blocks() > most_pointers_of_two_phase / parameters.cycles_of_thread()) {
    return std::to_string(parameters.live_blocks()) + " blocks in each of " +
           std::to_string(parameters.cycles_of_thread()) + " cycles; this workload keeps at most " +
           std::to_string(most_pointers_of_two_phase) + " pointers";
  }
  if (parameters.write_bytes > 4 * (parameters.smallest_request() / 4)) {
    return "write_bytes is " + std::to_string(parameters.write_bytes) +
           ", more than the whole words of the smallest request";
  }
  if (parameters.share < 1) {
    if (const std::string reason = why_torn_warps(parameters.divergence, setting); !reason.empty()) return reason;
  }
  return why_unsupported(parameters.geometry(), parameters.largest_request(), setting);
}

std::unique_ptr<WorkloadRun> TwoPhase::open(const Parameters& parameters, const RunSetting& setting,
                                            simt::Stream& stream) {
  return std::make_unique<TwoPhaseRun>(parameters, setting, stream);
}

}  // namespace allocbench
