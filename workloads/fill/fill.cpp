#include "workloads/fill/fill.hpp"

#include <array>

#include "workloads/support/callers/caller_requests.hpp"
#include "workloads/support/occupancy/occupancy.hpp"

namespace allocbench {
namespace {

constexpr std::uint64_t most_blocks_before = 1ull << 26;

class FillRun final : public WorkloadRun {
 public:
  FillRun(const Fill::Parameters& parameters, const RunSetting& setting, simt::Stream& stream)
      : stream_(stream),
        type_(setting.allocator),
        bytes_(parameters.request_bytes),
        before_(stream, geometry_before(parameters, setting.pool_bytes), RequestSizes::fixed(parameters.request_bytes)),
        timed_(stream, parameters.geometry(), RequestSizes::fixed(parameters.request_bytes)) {}

  void prepare() override {
    before_.poison();
    timed_.poison();
  }

  void sample(const AllocatorHandle& allocator, PhaseTimer& timer) override {
    const Geometry& geometry = before_.geometry();
    fill_pool(stream_, allocator, {bytes_, geometry.callers, geometry.threads_per_block, geometry.lanes_per_warp},
              before_.row(0), [&](std::size_t, std::size_t) { before_.alloc(allocator); });
    timed_.alloc_and_free(allocator, timer);
    if (before_.callers() != 0) allocator.begin(Stage::drain);
    before_.free(allocator);
  }

  void check_recorded(PointerCheck& check) const override {
    judge(check);
    check.explain_nulls({mallocs_at_most(), mallocs_at_most() * pad(bytes_, 16)}, PointerCheck::Live::together);
  }

  RequestProfile requests() const override { return timed_.profile(); }
  std::optional<std::uint64_t> largest_request() const override { return requests().sizes.largest(); }
  std::uint64_t mallocs_at_most() const override { return std::uint64_t{before_.callers()} + timed_.callers(); }
  std::vector<KernelInfo> kernels() const override { return timed_.kernels(type_); }

 private:
  void judge(PointerCheck& check) const {
    const std::array ranges{before_.range(), timed_.range()};
    if (const auto nulls = slot_check_.nulls_if_right(stream_, ranges, check.rules(), PointerCheck::Live::together)) {
      check.add_right(mallocs_at_most(), *nulls, mallocs_at_most() * before_.sizes().host().fixed_bytes());
      return;
    }
    std::vector<RecordedBlock> all = before_.blocks();
    for (RecordedBlock block : timed_.blocks()) {
      block.request += before_.callers();
      all.push_back(block);
    }
    check.check(all, PointerCheck::Live::together);
  }

  // Returns a geometry with as many callers as there are blocks to take.
  static Geometry geometry_before(const Fill::Parameters& parameters, std::size_t pool_bytes) {
    return Geometry::of_callers(static_cast<std::uint32_t>(parameters.blocks_before(pool_bytes)),
                                parameters.threads_per_block, parameters.lanes_per_warp);
  }

  simt::Stream& stream_;
  const AllocatorType& type_;
  std::uint64_t bytes_;
  CallerRequests before_;
  CallerRequests timed_;
  mutable SlotCheck slot_check_;  // memory of the check
};

}  // namespace

std::string Fill::unsupported(const Parameters& parameters, const RunSetting& setting) {
  if (setting.traits().frees == Frees::in_bulk) {
    return setting.display_name() + " frees in bulk: the timed frees would empty the pool";
  }
  const std::uint64_t before = parameters.blocks_before(setting.pool_bytes);
  if (before > most_blocks_before) {
    return std::to_string(before) + " blocks would fill the pool; this workload keeps at most " +
           std::to_string(most_blocks_before);
  }
  return why_unsupported(parameters.geometry(), parameters.request_bytes, setting);
}

std::unique_ptr<WorkloadRun> Fill::open(const Parameters& parameters, const RunSetting& setting, simt::Stream& stream) {
  return std::make_unique<FillRun>(parameters, setting, stream);
}

}  // namespace allocbench
