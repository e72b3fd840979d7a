#include "workloads/get_page/get_page.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "workloads/get_page/kernels.hpp"
#include "workloads/support/callers/caller_requests.hpp"
#include "workloads/support/callers/requirements.hpp"
#include "workloads/support/occupancy/occupancy.hpp"

namespace allocbench {
namespace {

constexpr std::uint64_t most_requests_before = 1ull << 27;

// Returns the number of requests before the timed requests if pages are not marked.
std::uint64_t requests_before(const GetPage::Parameters& parameters, std::size_t pool_bytes) {
  const double requests = static_cast<double>(pool_bytes) / static_cast<double>(pad(parameters.request_bytes, 16));
  return static_cast<std::uint64_t>(parameters.pattern == "self_filled"
                                        ? std::llround(requests * (1 - parameters.free_share))
                                        : static_cast<long long>(requests));
}

class GetPageRun final : public WorkloadRun {
 public:
  GetPageRun(const GetPage::Parameters& parameters, const RunSetting& setting, simt::Stream& stream)
      : stream_(stream),
        type_(setting.allocator),
        parameters_(parameters),
        size_{parameters.request_bytes},
        pool_bytes_(setting.pool_bytes),
        seed_(setting.seed),
        marks_(type_.marks_pages() && parameters.pattern != "self_filled"),
        occupants_(stream, marks_ ? 0 : static_cast<std::uint32_t>(requests_before(parameters, setting.pool_bytes))),
        held_(stream,
              Geometry::of_callers(parameters.held ? parameters.threads : 0, parameters.threads_per_block,
                                   parameters.lanes_per_warp),
              RequestSizes::fixed(size_.bytes)),
        timed_(stream, parameters.geometry(), RequestSizes::fixed(size_.bytes)),
        cycles_(parameters.cycles ? timed_.callers() : 0) {}

  // With the pattern `uniform`, each repetition draws the pages in use anew.
  void prepare() override {
    timed_.poison();
    ++seed_;
  }

  void sample(const AllocatorHandle& allocator, PhaseTimer& timer) override {
    if (marks_) {
      const std::uint32_t pages = allocator.page_count();
      before_ = before(pages, pool_bytes_ / std::max(pages, 1u));
      allocator.occupy(stream_, in_use(pages));
      with_held_pages(allocator, timer);
      if (!allocator.is_reset_afterwards()) allocator.reset(stream_);
      return;
    }
    before_ = before(occupants_.count(), pad(size_.bytes, 16));
    const PageSet used = in_use(occupants_.count());
    occupants_.enter(allocator.uncounted(), size_.bytes, used);
    with_held_pages(allocator, timer);
    occupants_.leave(allocator.uncounted(), used);
  }

  void check_recorded(PointerCheck& check) const override {
    timed_.check(check, PointerCheck::Live::together, before_);
  }
  RequestProfile requests() const override { return timed_.profile(); }
  std::optional<std::uint64_t> largest_request() const override { return requests().sizes.largest(); }
  std::uint64_t mallocs_at_most() const override {
    return std::uint64_t{occupants_.count()} + held_.callers() + timed_.callers();
  }

  std::vector<KernelInfo> kernels() const override {
    if (!parameters_.cycles) return timed_.kernels(type_);
    return {kernel_info<GetPageKernels, AllocCyclesKernel, Geometry, FixedSize, void**, std::uint32_t*>("alloc", type_),
            kernel_info<GetPageKernels, FreeCyclesKernel, Geometry, void**, std::uint32_t*>("free", type_)};
  }

 private:
  // Returns how many of `count` pages or requests are in use before the timed requests, without those that callers
  // hold.
  std::uint32_t used_of(std::uint32_t count) const {
    if (parameters_.pattern == "self_filled") return count;
    return static_cast<std::uint32_t>(
        std::max<std::int64_t>(std::llround(count * (1 - parameters_.free_share)) - std::int64_t{held_.callers()}, 0));
  }
  PageSet in_use(std::uint32_t count) const {
    const std::uint32_t used = used_of(count);
    const bool from_the_front = parameters_.pattern == "self_filled" || parameters_.pattern == "first_fit";
    if (from_the_front || count == 0) return PageSet::first(used);
    return PageSet::by_chance(count, used, seed_, parameters_.cluster_pages);
  }
  // Counts the blocks of used_of() and the blocks that callers hold.
  AskedBlocks before(std::uint32_t count, std::uint64_t bytes_of_each) const {
    const std::uint64_t used = used_of(count);
    return {used + held_.callers(), used * bytes_of_each + held_.profile().bytes()};
  }

  void with_held_pages(const AllocatorHandle& allocator, PhaseTimer& timer) {
    if (held_.callers() != 0) allocator.begin(Stage::fill);
    held_.alloc(allocator.uncounted());
    if (parameters_.cycles) {
      alloc_and_free_with_cycles(allocator, timer);
    } else {
      timed_.alloc_and_free(allocator, timer);
    }
    if (held_.callers() != 0) allocator.begin(Stage::drain);
    held_.free(allocator.uncounted());
  }

  void alloc_and_free_with_cycles(const AllocatorHandle& allocator, PhaseTimer& timer) {
    const Geometry& geometry = timed_.geometry();
    timer.phase("alloc", geometry.callers, [&] {
      allocator.launch<GetPageKernels>(stream_, geometry.shape(), AllocCyclesKernel{}, geometry, size_, timed_.row(0),
                                       cycles_.data());
    });
    timer.counter("alloc_cycles", mean_cycles());
    timer.phase("free", geometry.callers, [&] {
      allocator.launch<GetPageKernels>(stream_, geometry.shape(), FreeCyclesKernel{}, geometry, timed_.row(0),
                                       cycles_.data());
    });
    timer.counter("free_cycles", mean_cycles());
  }

  // Returns the mean cycles of the last kernel over all callers, rounded.
  std::uint64_t mean_cycles() const {
    const std::vector<std::uint32_t> host = cycles_.to_host(stream_);
    const std::uint64_t sum = std::accumulate(host.begin(), host.end(), std::uint64_t{0});
    return (sum + host.size() / 2) / host.size();
  }

  simt::Stream& stream_;
  const AllocatorType& type_;
  GetPage::Parameters parameters_;
  FixedSize size_;
  std::size_t pool_bytes_;
  std::uint64_t seed_;
  bool marks_;  // whether marks put pages into use; otherwise requests do, of which some are freed
  Occupants occupants_;
  CallerRequests held_;
  CallerRequests timed_;
  simt::Buffer<std::uint32_t> cycles_;
  AskedBlocks before_;  // the blocks in use before the timed requests of the last sample
};

}  // namespace

std::string GetPage::unsupported(const Parameters& parameters, const RunSetting& setting) {
  const std::uint64_t before = requests_before(parameters, setting.pool_bytes);
  if (setting.traits().frees != Frees::individually) {
    return setting.display_name() + " does not free single blocks: no pages could be made free before";
  }
  if (setting.traits().whole_warp_calls && parameters.pattern != "self_filled") {
    return setting.display_name() +
           " needs all lanes of a warp to call together, also when single pages are made free before";
  }
  if (before > most_requests_before) {
    return std::to_string(before) + " requests would fill the pool; this workload keeps at most " +
           std::to_string(most_requests_before);
  }
  const std::string why = why_too_many_free(parameters.request_bytes, parameters.free_share, setting);
  if (!why.empty()) return why;
  return why_unsupported(parameters.geometry(), parameters.request_bytes, setting);
}

std::unique_ptr<WorkloadRun> GetPage::open(const Parameters& parameters, const RunSetting& setting,
                                           simt::Stream& stream) {
  return std::make_unique<GetPageRun>(parameters, setting, stream);
}

}  // namespace allocbench
