#include "workloads/churn/churn.hpp"

#include <algorithm>
#include <numeric>

#include "workloads/churn/live_set.hpp"
#include "workloads/support/callers/caller_requests.hpp"
#include "workloads/support/callers/largest_free_request.hpp"
#include "workloads/support/contract/outcome.hpp"
#include "workloads/support/kernels/call_kernels.hpp"

namespace allocbench {
namespace {

constexpr std::uint64_t most_places = 1ull << 25;
// A verification pass runs at most this many rounds, because its ledger has an entry per malloc.
constexpr std::uint32_t rounds_observed = 64;
// The batches of requests use this many draws of sizes in turn, so rounds need not copy sizes to the device.
constexpr std::uint64_t different_batches = 16;

std::uint64_t seed_of(std::uint64_t seed, std::uint64_t round) { return seed * 0x9e3779b97f4a7c15u + round; }

class ChurnRun final : public WorkloadRun {
 public:
  ChurnRun(const Churn::Parameters& parameters, const RunSetting& setting, simt::Stream& stream)
      : stream_(stream),
        setting_(setting),
        parameters_(parameters),
        rows_(parameters.rows(setting.pool_bytes, parameters.live_share)),
        live_(rows_ * parameters.threads),
        leaving_(stream, parameters.threads),
        rest_(stream, parameters.geometry(), parameters.request_sizes(parameters.threads, setting.seed),
              static_cast<std::uint32_t>(std::min<std::uint64_t>(parameters.rows(setting.pool_bytes, 1) + 1,
                                                                 most_places / parameters.threads + 1))) {
    const std::uint64_t count = parameters.sizes == "fixed" ? 1 : different_batches;
    batches_.reserve(count);
    for (std::uint64_t i = 0; i < count; ++i) {
      batches_.emplace_back(stream, parameters.geometry(),
                            parameters.request_sizes(parameters.threads, seed_of(setting.seed, i)));
    }
  }

  void prepare() override {
    for (CallerRequests& each : batches_) each.poison();
    rest_.poison();
    live_.clear();
    asked_ = {};
    batches_asked_.clear();
  }

  void sample(const AllocatorHandle& allocator, PhaseTimer& timer) override {
    for (std::uint64_t row = 0; row < rows_; ++row) allocate(allocator, places_of(row), row, nullptr);
    const std::uint32_t rounds =
        allocator.is_observed() ? std::min(parameters_.rounds, rounds_observed) : parameters_.rounds;
    for (std::uint32_t round = 0; round < rounds; ++round) {
      const auto drawn = live_.draw(parameters_.threads, setting_.seed, round);
      const std::vector<std::uint32_t> places(drawn.begin(), drawn.end());
      free(allocator, places, &timer);
      allocate(allocator, places, rows_ + round, &timer);
    }
    final_ = live_.blocks();
    look(allocator, timer);
    for (std::uint64_t row = 0; row < rows_; ++row) free(allocator, places_of(row), nullptr);
  }

  void check_recorded(PointerCheck& check) const override {
    check.check(final_, PointerCheck::Live::together);
    for (const Asked& each : batches_asked_) {
      check.add_right(each.nulls, each.nulls, 0);
      check.explain_nulls(each.wanted, PointerCheck::Live::together, parameters_.threads);
    }
  }
  RequestProfile requests() const override { return batches_.front().profile(); }
  std::uint64_t mallocs_at_most() const override {
    return (rows_ + std::min(parameters_.rounds, rounds_observed)) * parameters_.threads;
  }
  std::vector<KernelInfo> kernels() const override { return batches_.front().kernels(setting_.allocator); }

 private:
  // The nulls of a batch, and the bytes that would be in use at its end without nulls.
  struct Asked {
    std::uint64_t nulls;
    AskedBlocks wanted;
  };

  std::vector<std::uint32_t> places_of(std::uint64_t row) const {
    std::vector<std::uint32_t> places(parameters_.threads);
    std::iota(places.begin(), places.end(), static_cast<std::uint32_t>(row * parameters_.threads));
    return places;
  }

  // Makes one batch of requests for these places. The batch is timed if there is a timer.
  void allocate(const AllocatorHandle& allocator, const std::vector<std::uint32_t>& places, std::uint64_t number,
                PhaseTimer* timer) {
    const CallerRequests& requests = batches_[number % batches_.size()];
    if (timer == nullptr) {
      requests.alloc(allocator);
    } else {
      timer->phase("alloc", places.size(), [&] { requests.alloc(allocator); });
    }
    const std::vector<RecordedBlock> served = requests.blocks();
    Asked batch{0, asked_};
    for (std::size_t i = 0; i < places.size(); ++i) {
      live_[places[i]] = {served[i].address, served[i].bytes, places[i]};
      batch.wanted.add(served[i].bytes);
      if (served[i].address != 0) {
        asked_.add(served[i].bytes);
      } else {
        ++batch.nulls;
      }
    }
    batches_asked_.push_back(batch);
  }

  void free(const AllocatorHandle& allocator, const std::vector<std::uint32_t>& places, PhaseTimer* timer) {
    std::vector<void*> slots(parameters_.threads, nullptr);
    for (std::size_t i = 0; i < places.size(); ++i) {
      RecordedBlock& block = live_[places[i]];
      slots[i] = reinterpret_cast<void*>(block.address);
      if (block.address != 0) asked_.take(block.bytes);
      block.address = 0;
    }
    leaving_.fill_from(slots);
    const Geometry geometry = parameters_.geometry();
    const auto launch = [&] {
      allocator.launch<CallKernels>(stream_, geometry.shape(), FreeKernel{}, geometry, leaving_.data());
    };
    if (timer == nullptr) return launch();
    timer->phase("free", places.size(), launch);
  }

  void look(const AllocatorHandle& allocator, PhaseTimer& timer) {
    const std::uint64_t live_bytes = live_.bytes();
    if (live_bytes == 0) {
      throw CellFailure(Status::oom, "no request was served by the pool of " + bytes_text(setting_.pool_bytes));
    }
    timer.counter("live_bytes", live_bytes);
    timer.counter("range_per_live", static_cast<double>(live_.address_range()) / static_cast<double>(live_bytes));
    timer.counter("largest_free_request", largest_free_request(stream_, setting_, allocator.bare()));
    fill(allocator.bare(), live_bytes, timer);
  }

  // Makes more requests until one is refused or all rows are used. After a refusal, the unused part of the pool counts
  // as lost: it is reserved, kept by the design or lost by rounding.
  void fill(const AllocatorHandle& allocator, std::uint64_t live_bytes, PhaseTimer& timer) {
    const std::uint32_t rounds = rest_.alloc_until_null(allocator);
    std::vector<RecordedBlock> blocks = rest_.blocks();
    blocks.resize(std::size_t{rounds} * rest_.callers());
    const std::size_t requests = blocks.size();
    std::erase_if(blocks, [](const RecordedBlock& each) { return each.address == 0; });
    std::uint64_t served = 0;
    for (const RecordedBlock& each : blocks) served += each.bytes;
    // Without a refusal, `rest_` had too few rows, so the lost share is not known.
    if (blocks.size() < requests) {
      const double used = static_cast<double>(live_bytes + served) / static_cast<double>(setting_.pool_bytes);
      timer.counter("lost_share", std::max(0.0, 1 - used));
    }
    final_.insert(final_.end(), blocks.begin(), blocks.end());
    for (std::uint32_t round = 0; round < rounds; ++round) rest_.free(allocator, round);
  }

  simt::Stream& stream_;
  RunSetting setting_;
  Churn::Parameters parameters_;
  std::uint64_t rows_;
  LiveSet live_;
  std::vector<CallerRequests> batches_;
  RecordedPointers leaving_;
  CallerRequests rest_;
  AskedBlocks asked_;                 // blocks in use now
  std::vector<Asked> batches_asked_;  // the batches of the last sample
  std::vector<RecordedBlock> final_;  // blocks in use at the end of the last sample
};

}  // namespace

std::uint64_t Churn::Parameters::rows(std::size_t pool_bytes, double share) const {
  const std::uint64_t row_bytes = request_sizes(threads, 1).total_bytes(threads);
  return std::max<std::uint64_t>(
      1, static_cast<std::uint64_t>(share * static_cast<double>(pool_bytes) / static_cast<double>(row_bytes)));
}

std::string Churn::unsupported(const Parameters& parameters, const RunSetting& setting) {
  if (setting.traits().frees != Frees::individually) {
    return setting.display_name() + " does not free single blocks: its live set cannot be renewed";
  }
  const std::uint64_t places = parameters.rows(setting.pool_bytes, parameters.live_share) * parameters.threads;
  if (places > most_places) {
    return std::to_string(places) + " blocks would live together; this workload keeps at most " +
           std::to_string(most_places);
  }
  return why_unsupported(parameters.geometry(), parameters.largest_request(), setting);
}

std::unique_ptr<WorkloadRun> Churn::open(const Parameters& parameters, const RunSetting& setting,
                                         simt::Stream& stream) {
  return std::make_unique<ChurnRun>(parameters, setting, stream);
}

}  // namespace allocbench
