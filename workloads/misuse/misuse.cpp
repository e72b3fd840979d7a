#include "workloads/misuse/misuse.hpp"

#include <algorithm>

#include "workloads/support/callers/caller_requests.hpp"
#include "workloads/support/contract/outcome.hpp"
#include "workloads/support/verification/content_check.hpp"

namespace allocbench {
namespace {

constexpr double refused_share = 0.5;

[[noreturn]] void fail_with(const std::string& answer) { throw CellFailure(Status::incorrect, "misuse: " + answer); }

class MisuseRun final : public WorkloadRun {
 public:
  MisuseRun(const Misuse::Parameters& parameters, const RunSetting& setting, simt::Stream& stream)
      : stream_(stream),
        setting_(setting),
        call_(parameters.call),
        request_bytes_(parameters.request_bytes),
        before_(stream, parameters.geometry(), RequestSizes::fixed(request_bytes_)),
        after_(stream, parameters.geometry(), RequestSizes::fixed(request_bytes_)),
        misused_(stream, before_.callers()) {}

  void prepare() override {
    before_.poison();
    after_.poison();
    given_.clear();
  }

  void sample(const AllocatorHandle& allocator, PhaseTimer& timer) override {
    before_.alloc(allocator);
    if (call_ == "malloc_zero") malloc_zero(allocator, timer);
    if (call_ == "free_null") free_null(allocator, timer);
    if (call_ == "absurd_size") absurd_size(allocator, timer);
    if (call_ == "double_free") double_free(allocator, timer);
    if (call_ == "refused_calls") refused_calls(allocator, timer);
    after_.alloc(allocator);
    // Only the last frees leave callers without blocks.
    if (!given_.empty()) before_.free_some(allocator, misused_.data());
    before_.free_some(allocator, before_.row(0));
    after_.free(allocator);
  }

  // Checks the blocks from before and after the misuse, and the blocks (possibly of 0 bytes) that the misuse returned.
  void check_recorded(PointerCheck& check) const override {
    std::vector<RecordedBlock> all = before_.blocks();
    const std::vector<RecordedBlock> after = after_.blocks();
    all.insert(all.end(), after.begin(), after.end());
    all.insert(all.end(), given_.begin(), given_.end());
    check.check(all, PointerCheck::Live::together);
  }
  RequestProfile requests() const override { return before_.profile(); }
  // Each caller gets at most one block before the call, one from the call and one after it.
  std::uint64_t mallocs_at_most() const override { return 3 * std::uint64_t{before_.callers()}; }
  std::vector<KernelInfo> kernels() const override { return {before_.alloc_info("total", setting_.allocator)}; }

 private:
  // Makes one request per caller and stores the results in misused_. Returns the blocks that were served.
  std::vector<RecordedBlock> ask(const AllocatorHandle& allocator, std::uint64_t bytes, PhaseTimer& timer) {
    const CallerRequests requests(stream_, before_.geometry(), RequestSizes::fixed(bytes));
    timer.phase("total", requests.callers(), [&] { requests.alloc(allocator); });
    std::vector<RecordedBlock> served = requests.blocks();
    std::vector<void*> slots;
    for (const RecordedBlock& each : served) slots.push_back(reinterpret_cast<void*>(each.address));
    misused_.fill_from(slots);
    std::erase_if(served, [](const RecordedBlock& each) { return each.address == 0; });
    return served;
  }

  void malloc_zero(const AllocatorHandle& allocator, PhaseTimer& timer) {
    given_ = ask(allocator, 0, timer);
    const bool null_is_right = setting_.traits().zero == ZeroBytes::null;
    const std::size_t right = null_is_right ? 0 : before_.callers();
    if (given_.size() == right) return;
    fail_with(std::to_string(given_.size()) + " of " + std::to_string(before_.callers()) +
              " calls of malloc(0) returned a block; this allocator promises " + (null_is_right ? "null" : "blocks"));
  }

  void free_null(const AllocatorHandle& allocator, PhaseTimer& timer) {
    static_cast<void>(ask(allocator, request_bytes_, timer));
    std::vector<void*> slots(before_.callers(), nullptr);
    simt::copy_to_host(stream_, slots.data(), misused_.data(), slots.size() * sizeof(void*));
    std::vector<void*> every_second = slots;
    for (std::size_t i = 0; i < slots.size(); ++i) (i % 2 == 0 ? every_second : slots)[i] = nullptr;
    for (const std::vector<void*>& half : {every_second, slots}) {
      misused_.fill_from(half);
      timer.phase("total", half.size(), [&] { before_.free_some(allocator, misused_.data()); });
    }
  }

  void absurd_size(const AllocatorHandle& allocator, PhaseTimer& timer) {
    for (const std::uint64_t bytes : absurd_sizes(setting_.pool_bytes)) {
      const std::size_t served = ask(allocator, bytes, timer).size();
      if (served == 0) continue;
      fail_with(std::to_string(served) + " of " + std::to_string(before_.callers()) + " requests of " +
                std::to_string(bytes) + " B were served by a pool of " + bytes_text(setting_.pool_bytes));
    }
  }

  // Uses its own ledger, because the double frees are intended and the harness must not report them.
  void double_free(const AllocatorHandle& allocator, PhaseTimer& timer) {
    PointerRules rules;
    rules.pool_end = UINT64_MAX;
    rules.alignment = setting_.traits().alignment;
    const ContentCheck contents(stream_, before_.callers(), rules);
    const AllocatorHandle checked = allocator.bare().observed({}, contents.ledger());
    const CallerRequests requests(stream_, before_.geometry(), RequestSizes::fixed(request_bytes_));
    requests.alloc(checked);
    const std::vector<RecordedBlock> served = requests.blocks();
    requests.free_some(checked, requests.row(0));
    if (const std::string problem = contents.problem(); !problem.empty())
      fail_with("before any double free: " + problem);
    timer.phase("total", requests.callers(), [&] { requests.free_some(checked, requests.row(0)); });
    const auto blocks = static_cast<std::uint64_t>(
        std::count_if(served.begin(), served.end(), [](const RecordedBlock& each) { return each.address != 0; }));
    const std::uint64_t caught = contents.wrong_frees();
    timer.counter("caught_share", blocks == 0 ? 1 : static_cast<double>(caught) / static_cast<double>(blocks));
    if (caught != blocks) {
      fail_with("the Checked adaptor saw " + std::to_string(caught) + " of " + std::to_string(blocks) +
                " double frees");
    }
  }

  void refused_calls(const AllocatorHandle& allocator, PhaseTimer& timer) {
    const AllocatorHandle failing = allocator.failing(FailureRule::with_chance(refused_share, setting_.seed));
    const std::size_t served = ask(failing, request_bytes_, timer).size();
    timer.phase("total", before_.callers(), [&] { before_.free_some(failing, misused_.data()); });
    if (served == before_.callers()) fail_with("no call was refused by the Failing adaptor");
  }

  simt::Stream& stream_;
  RunSetting setting_;
  std::string call_;
  std::uint64_t request_bytes_;
  CallerRequests before_;
  CallerRequests after_;
  RecordedPointers misused_;          // results of the call
  std::vector<RecordedBlock> given_;  // those results that are in use until the end of the sample
};

}  // namespace

std::vector<std::uint64_t> absurd_sizes(std::uint64_t pool_bytes) {
  constexpr std::uint64_t words = 1ull << 32;
  return {pool_bytes + 1,
          (pool_bytes / words + 1) * words + 64,  // the low 32 bits are 64
          1ull << 48,
          1ull << 63,
          UINT64_MAX - 4095,
          UINT64_MAX - 14,  // rounded up to a multiple of 16, it is 0
          UINT64_MAX};
}

std::string Misuse::unsupported(const Parameters& parameters, const RunSetting& setting) {
  const bool tears_warps = parameters.call == "refused_calls" || parameters.call == "free_null";
  if (tears_warps && setting.traits().whole_warp_calls) {
    return setting.display_name() + " needs all lanes of a warp to call together";
  }
  return why_unsupported(parameters.geometry(), parameters.request_bytes, setting);
}

std::unique_ptr<WorkloadRun> Misuse::open(const Parameters& parameters, const RunSetting& setting,
                                          simt::Stream& stream) {
  return std::make_unique<MisuseRun>(parameters, setting, stream);
}

}  // namespace allocbench
