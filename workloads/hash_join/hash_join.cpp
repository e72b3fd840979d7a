#include "workloads/hash_join/hash_join.hpp"

#include <algorithm>
#include <stdexcept>

#include "workloads/hash_join/join_steps.hpp"
#include "workloads/support/contract/outcome.hpp"
#include "workloads/support/occupancy/pre_occupation.hpp"

namespace allocbench {
namespace {

class HashJoinRun final : public WorkloadRun {
 public:
  HashJoinRun(const HashJoin::Parameters& parameters, const RunSetting& setting, simt::Stream& stream)
      : stream_(stream),
        type_(setting.allocator),
        parameters_(parameters),
        shape_(JoinShape::of(parameters.tuples, parameters.tuples_per_thread, parameters.threads_per_block)),
        steps_(stream, {parameters.input, parameters.tuples, parameters.exponent, setting.seed}, shape_,
               parameters.uses_pages() ? parameters.page_bytes : 0, parameters.threads_per_list()),
        occupation_(setting, parameters.page_bytes, parameters.uses_pages() ? parameters.free_share : 1, stream) {}

  void prepare() override { steps_.prepare(); }

  void sample(const AllocatorHandle& allocator, PhaseTimer& timer) override {
    if (parameters_.uses_pages()) {
      join_into_pages(allocator, timer);
    } else {
      timer.phase("partition", 0, [&] { steps_.partition(); });
      timer.phase("build_probe", 0, [&] { steps_.join_in_two_passes(); });
    }
    timer.sum("total", {"partition", "build_probe"});
  }

  void check_recorded(PointerCheck& check) const override {
    check.check(steps_.page_blocks(), PointerCheck::Live::together);
    if (check.ok() && check.nulls() == 0) fail_if_wrong("join", steps_.problem());
  }

  RequestProfile requests() const override {
    const std::uint32_t share = parameters_.tuples_per_thread * parameters_.threads_per_list();
    const std::uint64_t pages = std::max<std::uint64_t>(steps_.expected_pairs() / share, 1);
    return {Geometry::of_callers(static_cast<std::uint32_t>(std::min<std::uint64_t>(pages, 1 << 20)),
                                 parameters_.threads_per_block, simt::warp_size),
            RequestSizes::fixed(parameters_.page_bytes)};
  }
  std::optional<std::uint64_t> largest_request() const override { return parameters_.page_bytes; }
  std::uint64_t mallocs_at_most() const override {
    return steps_.lists().lists + steps_.expected_pairs() / PairChain::capacity(parameters_.page_bytes);
  }

  std::vector<KernelInfo> kernels() const override {
    return {parameters_.warp_lists() ? probe_info<WarpBuildProbeKernel>() : probe_info<BuildProbeKernel>(),
            kernel_info<HashJoinKernels, FreePairListsKernel, PairLists>("free", type_)};
  }

 private:
  template <class Kernel>
  KernelInfo probe_info() const {
    return kernel_info<HashJoinKernels, Kernel, JoinShape, PartitionedTable, PartitionedTable, std::uint64_t, PairLists,
                       PageFaults*>("build_probe", type_);
  }

  template <class Kernel>
  void probe(const AllocatorHandle& allocator, const Kernel& kernel) {
    allocator.launch<HashJoinKernels>(stream_, shape_.launch(), kernel, shape_, steps_.r(), steps_.s(),
                                      parameters_.page_bytes, steps_.lists(), steps_.faults());
  }

  void join_into_pages(const AllocatorHandle& allocator, PhaseTimer& timer) {
    occupation_.enter(allocator);
    timer.phase("partition", 0, [&] { steps_.partition(); });
    timer.phase("build_probe", 0, [&] {
      if (parameters_.warp_lists()) {
        probe(allocator, WarpBuildProbeKernel{});
      } else {
        probe(allocator, BuildProbeKernel{});
      }
    });
    timer.phase("read_back", 0, [&] { steps_.read_back(); });
    steps_.record_pages();
    timer.phase("free", 0, [&] {
      allocator.launch<HashJoinKernels>(stream_, {shape_.blocks, shape_.threads_per_block}, FreePairListsKernel{},
                                        steps_.lists());
    });
    occupation_.leave(allocator);
    const std::uint64_t pages = steps_.pages();
    timer.set_operations("build_probe", pages);
    timer.set_operations("free", pages);
    timer.counter("mallocs", pages);
  }

  simt::Stream& stream_;
  const AllocatorType& type_;
  HashJoin::Parameters parameters_;
  JoinShape shape_;
  JoinSteps steps_;
  PreOccupation occupation_;
};

}  // namespace

std::string HashJoin::unsupported(const Parameters& p, const RunSetting& setting) {
  if (p.input == "sel" && p.tuples > 1u << 28) return "input sel needs 16 times the tuples as keys";
  if (p.warp_lists() && p.threads_per_block % simt::warp_size != 0) {
    throw std::invalid_argument("threads_per_block is " + std::to_string(p.threads_per_block) +
                                ", allowed with lists = warp: multiples of " + std::to_string(simt::warp_size));
  }
  if (!p.uses_pages()) return {};
  const std::uint64_t pages =
      p.warp_lists() ? p.tuples / PairChain::capacity(p.page_bytes) : p.tuples / p.tuples_per_thread;
  const std::uint64_t result_bytes = (p.input == "sel" ? pages / 16 : pages) * p.page_bytes;
  // Lanes find their matches at different times. So designs that need whole-warp calls are unsupported.
  return why_pages_unsupported(p, result_bytes, Geometry::of_callers(p.tuples, p.threads_per_block, 1), setting);
}

std::unique_ptr<WorkloadRun> HashJoin::open(const Parameters& parameters, const RunSetting& setting,
                                            simt::Stream& stream) {
  return std::make_unique<HashJoinRun>(parameters, setting, stream);
}

}  // namespace allocbench
