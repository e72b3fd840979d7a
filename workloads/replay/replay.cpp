#include "workloads/replay/replay.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <numeric>
#include <stdexcept>

#include "traces/trace_file.hpp"
#include "workloads/replay/kernels.hpp"
#include "workloads/support/contract/outcome.hpp"
#include "workloads/support/inputs/data_files.hpp"
#include "workloads/support/inputs/kept_input.hpp"
#include "workloads/support/kernels/call_kernels.hpp"
#include "workloads/support/verification/recorded_pointers.hpp"

namespace allocbench {
namespace {

namespace fs = std::filesystem;
using replay::Launch;
using replay::Plan;
using replay::ReplayKernel;
using replay::ReplayKernels;
using replay::Step;

constexpr std::uint32_t threads_per_block_of_drain = 256;
constexpr std::uint32_t most_requests_of_leak_check = 1u << 16;

// Returns the folder of a trace. `trace` is a path, or the name of a folder in data/traces/.
fs::path folder_of(const std::string& trace) {
  if (trace.empty()) throw std::invalid_argument("trace: name the folder of a recorded trace");
  if (fs::exists(fs::path(trace) / "trace.json")) return trace;
  return find_data_file("traces/" + trace + "/trace.json").parent_path();
}

std::shared_ptr<const Plan> plan_of(const std::string& trace) {
  const fs::path folder = fs::absolute(folder_of(trace));
  const auto written = fs::last_write_time(folder / "trace.json").time_since_epoch().count();
  const std::string key =
      stored_key("replay", {std::hash<std::string>{}(folder.string()), static_cast<std::uint64_t>(written)});
  try {
    return kept_input<Plan>(key, [&] { return replay::make_plan(traces::read_trace(folder)); });
  } catch (const traces::TraceError& error) {
    throw std::invalid_argument(error.what());
  }
}

std::uint64_t largest_of(const Plan& plan) {
  return plan.block_bytes.empty() ? 0 : *std::max_element(plan.block_bytes.begin(), plan.block_bytes.end());
}

class ReplayRun final : public WorkloadRun {
 public:
  ReplayRun(const Replay::Parameters& parameters, const RunSetting& setting, simt::Stream& stream)
      : stream_(stream),
        type_(setting.allocator),
        seed_(setting.seed),
        kept_plan_(plan_of(parameters.trace)),
        plan_(*kept_plan_),
        begin_(plan_.begin.size()),
        steps_(plan_.steps.size()),
        left_(plan_.left.size()),
        blocks_(stream, static_cast<std::uint32_t>(plan_.block_bytes.size())),
        skipped_(1) {
    fail_if_unsupported(why_recycling(bytes(), setting));
    begin_.from_host(stream, plan_.begin);
    steps_.from_host(stream, plan_.steps);
  }

  void prepare() override {
    blocks_.poison();
    skipped_.fill_bytes(stream_, 0);
  }

  void sample(const AllocatorHandle& allocator, PhaseTimer& timer) override {
    timer.phase("total", plan_.mallocs + plan_.frees, [&] {
      for (const Launch& launch : plan_.launches) {
        allocator.launch<ReplayKernels>(stream_,
                                        {.blocks = launch.blocks, .threads_per_block = launch.threads_per_block},
                                        ReplayKernel{}, static_cast<const std::uint32_t*>(begin_.data() + launch.first),
                                        static_cast<const Step*>(steps_.data()), blocks_.data(), skipped_.data());
      }
    });
    timer.counter("mallocs", plan_.mallocs);
    timer.counter("frees", plan_.frees - skipped());
    timer.counter("requested_bytes", bytes());
    timer.counter("launches", static_cast<std::uint64_t>(plan_.launches.size()));
    drain(allocator);
  }

  // Blocks that the trace never frees are in use together. The trace does not show this for other blocks.
  void check_recorded(PointerCheck& check) const override {
    std::vector<RecordedBlock> all = blocks_.blocks([&](std::size_t block) { return plan_.block_bytes[block]; });
    std::vector<RecordedBlock> left;
    for (const std::uint32_t block : plan_.left) left.push_back(all[block]);
    check.check(all, PointerCheck::Live::separately);
    std::erase_if(left, [](const RecordedBlock& block) { return block.address == 0; });
    check.check_overlap_only(left);
  }

  RequestProfile requests() const override {
    std::map<std::uint64_t, std::uint64_t> counts;
    for (const std::uint64_t each : plan_.block_bytes) ++counts[each];
    std::vector<std::uint64_t> sizes;
    std::vector<std::uint64_t> weights;
    for (const auto& [size, count] : counts) {
      sizes.push_back(size);
      weights.push_back(count);
    }
    const auto callers =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(plan_.block_bytes.size(), most_requests_of_leak_check));
    return {Geometry::of_callers(callers, threads_per_block_of_drain, simt::warp_size),
            RequestSizes::list(sizes, weights, callers, seed_)};
  }
  std::optional<std::uint64_t> largest_request() const override { return largest_of(plan_); }
  std::uint64_t mallocs_at_most() const override { return plan_.mallocs; }

  std::vector<KernelInfo> kernels() const override {
    return {kernel_info<ReplayKernels, ReplayKernel, const std::uint32_t*, const Step*, void**, std::uint32_t*>("total",
                                                                                                                type_)};
  }

 private:
  std::uint64_t bytes() const {
    return std::accumulate(plan_.block_bytes.begin(), plan_.block_bytes.end(), std::uint64_t{0});
  }
  std::uint64_t skipped() const { return skipped_.to_host(stream_).front(); }

  // Frees the blocks that the trace does not free.
  void drain(const AllocatorHandle& allocator) {
    if (plan_.left.empty() || allocator.is_reset_afterwards()) return;
    const std::vector<RecordedBlock> all = blocks_.blocks([](std::size_t) { return std::uint64_t{0}; });
    std::vector<void*> left;
    for (const std::uint32_t block : plan_.left) left.push_back(reinterpret_cast<void*>(all[block].address));
    left_.from_host(stream_, left);
    const Geometry geometry =
        Geometry::of_callers(static_cast<std::uint32_t>(left.size()), threads_per_block_of_drain, simt::warp_size);
    allocator.launch<CallKernels>(stream_, geometry.shape(), FreeKernel{}, geometry, left_.data());
  }

  simt::Stream& stream_;
  const AllocatorType& type_;
  std::uint64_t seed_;
  std::shared_ptr<const Plan> kept_plan_;
  const Plan& plan_;
  simt::Buffer<std::uint32_t> begin_;
  simt::Buffer<Step> steps_;
  simt::Buffer<void*> left_;
  RecordedPointers blocks_;
  simt::Buffer<std::uint32_t> skipped_;
};

}  // namespace

std::string Replay::unsupported(const Parameters& parameters, const RunSetting& setting) {
  const std::shared_ptr<const Plan> plan = plan_of(parameters.trace);
  if (plan->mallocs == 0) throw std::invalid_argument("trace: " + parameters.trace + " has no malloc that was served");
  if (setting.traits().frees == Frees::in_bulk) {
    return setting.display_name() + " frees all blocks of a session at once; a trace frees them one at a time";
  }
  // Each thread makes its own calls. So designs that need whole-warp calls are unsupported.
  return why_unsupported(Geometry::of_callers(1, 1, 1), largest_of(*plan), setting);
}

std::unique_ptr<WorkloadRun> Replay::open(const Parameters& parameters, const RunSetting& setting,
                                          simt::Stream& stream) {
  return std::make_unique<ReplayRun>(parameters, setting, stream);
}

}  // namespace allocbench
