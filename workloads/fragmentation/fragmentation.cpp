#include "workloads/fragmentation/fragmentation.hpp"

#include <algorithm>
#include <numeric>

#include "workloads/support/callers/caller_requests.hpp"
#include "workloads/support/contract/outcome.hpp"
#include "workloads/support/parallel/sort.hpp"

namespace allocbench {
namespace {

constexpr std::uint64_t most_pointers_of_fragmentation = 1ull << 27;

// Returns the median distance between neighbours. `places` are sorted; the function replaces them by their distances.
std::uint64_t median_distance(std::vector<std::uint64_t>& places) {
  std::adjacent_difference(places.begin(), places.end(), places.begin());
  const auto middle = places.begin() + 1 + static_cast<std::ptrdiff_t>((places.size() - 1) / 2);
  std::nth_element(places.begin() + 1, middle, places.end());
  return *middle;
}

class FragmentationRun final : public WorkloadRun {
 public:
  FragmentationRun(const Fragmentation::Parameters& parameters, const RunSetting& setting, simt::Stream& stream)
      : stream_(stream),
        type_(setting.allocator),
        bytes_(parameters.request_bytes),
        pool_bytes_(setting.pool_bytes),
        requests_(stream, parameters.geometry(), RequestSizes::fixed(bytes_),
                  static_cast<std::uint32_t>(parameters.rounds_at_most(pool_bytes_))) {}

  void prepare() override { requests_.poison(); }

  void sample(const AllocatorHandle& allocator, PhaseTimer& timer) override {
    timer.phase("alloc", 0, [&] { rounds_ = requests_.alloc_until_null(allocator); });
    timer.phase("free", 0, [&] {
      for (std::uint32_t round = 0; round < rounds_; ++round) requests_.free(allocator, round);
    });
    count(timer);
  }

  // To judge nulls, the check assumes that every block takes the measured distance.
  void check_recorded(PointerCheck& check) const override {
    judge(check);
    const std::uint64_t wanted = std::uint64_t{rounds_} * requests_.callers();
    check.explain_nulls({wanted, wanted * block_bytes_}, PointerCheck::Live::together, PointerCheck::until_null);
  }
  RequestProfile requests() const override { return requests_.profile(); }
  std::optional<std::uint64_t> largest_request() const override { return requests().sizes.largest(); }
  std::uint64_t mallocs_at_most() const override { return std::uint64_t{requests_.callers()} * requests_.rounds(); }
  std::vector<KernelInfo> kernels() const override { return requests_.kernels(type_); }

 private:
  void judge(PointerCheck& check) const {
    SlotRange range = requests_.range();
    range.count = std::size_t{rounds_} * requests_.callers();
    if (const auto nulls =
            slot_check_.nulls_if_right(stream_, {&range, 1}, check.rules(), PointerCheck::Live::together)) {
      check.add_right(range.count, *nulls, range.count * bytes_);
      return;
    }
    check.check(recorded(), PointerCheck::Live::together);
  }
  // Returns the blocks of the rounds that ran. The slots of the other rounds keep their poison.
  std::vector<RecordedBlock> recorded() const {
    std::vector<RecordedBlock> blocks = requests_.blocks();
    blocks.resize(std::size_t{rounds_} * requests_.callers());
    return blocks;
  }

  // The device sorts the addresses, because a pool can have millions of blocks.
  std::vector<std::uint64_t> sorted_places() const {
    const auto slots = static_cast<std::uint32_t>(std::size_t{rounds_} * requests_.callers());
    const simt::Buffer<std::uint64_t> sorted(slots);
    sort_words(stream_, reinterpret_cast<const std::uint64_t*>(requests_.row(0)), sorted.data(), slots);
    std::vector<std::uint64_t> places = sorted.to_host(stream_);
    places.erase(places.begin(), std::upper_bound(places.begin(), places.end(), std::uint64_t{0}));
    return places;
  }

  void count(PhaseTimer& timer) {
    std::vector<std::uint64_t> places = sorted_places();
    if (places.size() < 2) {
      throw CellFailure(Status::oom, "the pool of " + bytes_text(pool_bytes_) + " holds " +
                                         std::to_string(places.size()) + " blocks of " + bytes_text(bytes_));
    }
    timer.set_operations("alloc", places.size());
    timer.set_operations("free", places.size());
    const auto bytes = static_cast<double>(bytes_);
    const auto served = static_cast<double>(places.size());
    const auto pool = static_cast<double>(pool_bytes_);
    block_bytes_ = std::max(bytes_, median_distance(places));
    const auto taken = static_cast<double>(block_bytes_);
    timer.counter("served_bytes", served * bytes);
    timer.counter("block_bytes", taken);
    timer.counter("internal_waste", 1 - bytes / taken);
    timer.counter("external_waste", std::max(0.0, 1 - served * taken / pool));
  }

  simt::Stream& stream_;
  const AllocatorType& type_;
  std::uint64_t bytes_;
  std::size_t pool_bytes_;
  CallerRequests requests_;
  mutable SlotCheck slot_check_;  // memory of the check
  std::uint32_t rounds_ = 0;      // rounds of the last sample
  std::uint64_t block_bytes_ = 0;
};

}  // namespace

std::string Fragmentation::unsupported(const Parameters& parameters, const RunSetting& setting) {
  if (setting.traits().frees == Frees::in_bulk) {
    return setting.display_name() + " frees in bulk: one free would free the rounds of a thread together";
  }
  if (setting.traits().recycles_unfreed) {
    return setting.display_name() + " is never full: it reuses blocks that were not freed";
  }
  if (parameters.rounds_at_most(setting.pool_bytes) * parameters.threads > most_pointers_of_fragmentation) {
    return "a pool of " + std::to_string(setting.pool_bytes) + " B may hold more than the " +
           std::to_string(most_pointers_of_fragmentation) + " blocks that this workload keeps";
  }
  const std::string why = why_too_many_free(parameters.request_bytes, 0, setting);
  if (!why.empty()) return why;
  return why_unsupported(parameters.geometry(), parameters.request_bytes, setting);
}

std::unique_ptr<WorkloadRun> Fragmentation::open(const Parameters& parameters, const RunSetting& setting,
                                                 simt::Stream& stream) {
  return std::make_unique<FragmentationRun>(parameters, setting, stream);
}

}  // namespace allocbench
