#include "workloads/producer_consumer/producer_consumer.hpp"

#include <algorithm>
#include <numeric>

#include "workloads/support/callers/caller_requests.hpp"
#include "workloads/support/random/random.hpp"

namespace allocbench {
namespace {

// Moves every caller by `step` places within its group of `size` neighbours. The last group may be smaller.
void rotate_groups(std::vector<std::uint32_t>& callers, std::size_t size, std::size_t step) {
  for (std::size_t begin = 0; begin < callers.size(); begin += size) {
    const std::size_t count = std::min(size, callers.size() - begin);
    const auto first = callers.begin() + static_cast<std::ptrdiff_t>(begin);
    std::rotate(first, first + static_cast<std::ptrdiff_t>(step % count), first + static_cast<std::ptrdiff_t>(count));
  }
}

class ProducerConsumerRun final : public WorkloadRun {
 public:
  ProducerConsumerRun(const ProducerConsumer::Parameters& parameters, const RunSetting& setting, simt::Stream& stream)
      : stream_(stream),
        type_(setting.allocator),
        requests_(stream, parameters.geometry(), parameters.request_sizes(parameters.threads, setting.seed)),
        handed_(stream, requests_.callers()),
        producers_(producers_of(requests_.geometry(), parameters.freed_by, setting.seed)) {}

  void prepare() override { requests_.poison(); }

  void sample(const AllocatorHandle& allocator, PhaseTimer& timer) override {
    timer.phase("alloc", requests_.callers(), [&] { requests_.alloc(allocator); });
    hand_over();
    timer.phase("free", requests_.callers(), [&] { requests_.free_of(allocator, handed_.data()); });
  }

  void check_recorded(PointerCheck& check) const override { requests_.check(check); }
  RequestProfile requests() const override { return requests_.profile(); }
  std::optional<std::uint64_t> largest_request() const override { return requests().sizes.largest(); }
  std::uint64_t mallocs_at_most() const override { return requests_.callers(); }
  std::vector<KernelInfo> kernels() const override { return requests_.kernels(type_); }

 private:
  void hand_over() {
    std::vector<void*> own(requests_.callers());
    simt::copy_to_host(stream_, own.data(), requests_.row(0), own.size() * sizeof(void*));
    std::vector<void*> handed(own.size());
    std::transform(producers_.begin(), producers_.end(), handed.begin(),
                   [&](std::uint32_t producer) { return own[producer]; });
    handed_.fill_from(handed);
  }

  simt::Stream& stream_;
  const AllocatorType& type_;
  CallerRequests requests_;
  RecordedPointers handed_;
  std::vector<std::uint32_t> producers_;
};

}  // namespace

std::vector<std::uint32_t> producers_of(const Geometry& geometry, const std::string& freed_by, std::uint64_t seed) {
  std::vector<std::uint32_t> producers(geometry.callers);
  std::iota(producers.begin(), producers.end(), 0u);
  const std::size_t lanes = geometry.lanes_per_warp;
  const std::size_t block = geometry.callers_per_block;
  if (freed_by == "other_lane") {
    // The last warp of a block may be partial, so warps are counted within the block.
    for (std::size_t begin = 0; begin < producers.size(); begin += block) {
      const auto first = producers.begin() + static_cast<std::ptrdiff_t>(begin);
      const auto last = first + static_cast<std::ptrdiff_t>(std::min(block, producers.size() - begin));
      std::vector<std::uint32_t> of_block(first, last);
      rotate_groups(of_block, lanes, 1);
      std::copy(of_block.begin(), of_block.end(), first);
    }
  } else if (freed_by == "other_warp") {
    rotate_groups(producers, block, lanes);
  } else if (freed_by == "other_block") {
    rotate_groups(producers, producers.size(), block);
  } else if (freed_by == "anybody") {
    for (std::uint32_t left = geometry.callers; left > 1; --left) {
      const std::uint32_t word = random_words(seed, RandomStream::hand_over, left).words[0];
      std::swap(producers[left - 1], producers[scale_to(word, left)]);
    }
  }
  return producers;
}

std::string ProducerConsumer::unsupported(const Parameters& parameters, const RunSetting& setting) {
  if (setting.traits().frees == Frees::in_bulk) {
    return setting.display_name() + " frees in bulk, and only what a thread allocated itself";
  }
  return why_unsupported(parameters.geometry(), parameters.largest_request(), setting);
}

std::unique_ptr<WorkloadRun> ProducerConsumer::open(const Parameters& parameters, const RunSetting& setting,
                                                    simt::Stream& stream) {
  return std::make_unique<ProducerConsumerRun>(parameters, setting, stream);
}

}  // namespace allocbench
