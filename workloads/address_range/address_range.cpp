#include "workloads/address_range/address_range.hpp"

#include <algorithm>

#include "workloads/support/callers/caller_requests.hpp"

namespace allocbench {
namespace {

constexpr std::uint64_t most_blocks_recorded = 1ull << 27;
// A verification pass runs at most this many rounds, because its calls take longer than timed calls.
constexpr std::uint32_t most_rounds_observed = 4;

// The interval from the first byte of the lowest block to the last byte of the highest block.
struct AddressInterval {
  std::uint64_t begin = ~std::uint64_t{0};
  std::uint64_t end = 0;

  void add(const AddressInterval& other) {
    begin = std::min(begin, other.begin);
    end = std::max(end, other.end);
  }
  std::uint64_t bytes() const { return end > begin ? end - begin : 0; }
};

class AddressRangeRun final : public WorkloadRun {
 public:
  AddressRangeRun(const AddressRange::Parameters& parameters, const RunSetting& setting, simt::Stream& stream)
      : stream_(stream),
        type_(setting.allocator),
        requests_(stream, parameters.geometry(), parameters.request_sizes(parameters.threads, setting.seed),
                  parameters.rounds) {
    for (std::uint32_t caller = 0; caller < requests_.callers(); ++caller) requested_ += size_of(caller);
  }

  void prepare() override { requests_.poison(); }

  void sample(const AllocatorHandle& allocator, PhaseTimer& timer) override {
    rounds_ = allocator.is_observed() ? std::min(requests_.rounds(), most_rounds_observed) : requests_.rounds();
    for (std::uint32_t round = 0; round < rounds_; ++round) {
      timer.phase("alloc", requests_.callers(), [&] { requests_.alloc(allocator, round); });
      timer.phase("free", requests_.callers(), [&] { requests_.free(allocator, round); });
    }
    count(timer);
  }

  // Blocks of one round are in use together. Blocks of different rounds are not.
  void check_recorded(PointerCheck& check) const override {
    SlotRange row = requests_.range();
    row.count = requests_.callers();
    std::vector<RecordedBlock> blocks;
    for (std::uint32_t round = 0; round < rounds_; ++round) {
      row.slots = requests_.row(round);
      if (const auto nulls =
              slot_check_.nulls_if_right(stream_, {&row, 1}, check.rules(), PointerCheck::Live::together)) {
        check.add_right(row.count, *nulls, requested_);
        continue;
      }
      if (blocks.empty()) blocks = requests_.blocks();
      check.check({blocks.data() + round * row.count, row.count}, PointerCheck::Live::together);
    }
    check.explain_nulls({requests_.callers(), requests().bytes()}, PointerCheck::Live::together);
  }

  RequestProfile requests() const override { return requests_.profile(); }
  std::optional<std::uint64_t> largest_request() const override { return requests().sizes.largest(); }
  std::uint64_t mallocs_at_most() const override { return std::uint64_t{requests_.callers()} * requests_.rounds(); }
  std::vector<KernelInfo> kernels() const override { return requests_.kernels(type_); }

 private:
  std::uint64_t size_of(std::size_t caller) const { return requests_.sizes().host()[caller]; }

  AddressInterval interval_of(std::uint32_t round) const {
    std::vector<void*> blocks(requests_.callers());
    simt::copy_to_host(stream_, blocks.data(), requests_.row(round), blocks.size() * sizeof(void*));
    AddressInterval interval;
    for (std::size_t caller = 0; caller < blocks.size(); ++caller) {
      const auto address = reinterpret_cast<std::uint64_t>(blocks[caller]);
      if (is_block(blocks[caller])) interval.add({address, address + size_of(caller)});
    }
    return interval;
  }

  void count(PhaseTimer& timer) const {
    AddressInterval all;
    std::uint64_t widest = 0;
    for (std::uint32_t round = 0; round < rounds_; ++round) {
      const AddressInterval interval = interval_of(round);
      widest = std::max(widest, interval.bytes());
      all.add(interval);
    }
    timer.counter("range_bytes", widest);
    timer.counter("address_spread", static_cast<double>(widest) / static_cast<double>(requested_));
    timer.counter("running_spread", static_cast<double>(all.bytes()) / static_cast<double>(requested_));
  }

  simt::Stream& stream_;
  const AllocatorType& type_;
  CallerRequests requests_;
  std::uint32_t rounds_ = 0;      // rounds of the last sample
  std::uint64_t requested_ = 0;   // bytes requested in one round
  mutable SlotCheck slot_check_;  // memory of the check
};

}  // namespace

std::string AddressRange::unsupported(const Parameters& parameters, const RunSetting& setting) {
  const std::uint64_t pointers = std::uint64_t{parameters.threads} * parameters.rounds;
  if (pointers > most_blocks_recorded) {
    return "threads times rounds is " + std::to_string(pointers) + "; this workload keeps at most " +
           std::to_string(most_blocks_recorded) + " pointers";
  }
  return why_unsupported(parameters.geometry(), parameters.largest_request(), setting);
}

std::unique_ptr<WorkloadRun> AddressRange::open(const Parameters& parameters, const RunSetting& setting,
                                                simt::Stream& stream) {
  return std::make_unique<AddressRangeRun>(parameters, setting, stream);
}

}  // namespace allocbench
