#include "workloads/churn/live_set.hpp"

#include <algorithm>
#include <numeric>

#include "workloads/support/random/random.hpp"

namespace allocbench {

void LiveSet::clear() {
  for (std::size_t place = 0; place < blocks_.size(); ++place) blocks_[place] = {0, 0, place};
  std::iota(order_.begin(), order_.end(), 0u);
}

// These are the first steps of a Fisher-Yates shuffle. The shuffle may start from the order that earlier rounds left.
std::span<const std::uint32_t> LiveSet::draw(std::size_t count, std::uint64_t seed, std::uint64_t round) {
  RandomWords drawn{};
  for (std::size_t i = 0; i < count; ++i) {
    if (i % 4 == 0) drawn = random_words(seed, RandomStream::churn, round, static_cast<std::uint32_t>(i / 4));
    const auto left = static_cast<std::uint32_t>(order_.size() - i);
    std::swap(order_[i], order_[i + scale_to(drawn.words[i % 4], left)]);
  }
  return {order_.data(), count};
}

std::vector<RecordedBlock> LiveSet::blocks() const {
  std::vector<RecordedBlock> present;
  std::copy_if(blocks_.begin(), blocks_.end(), std::back_inserter(present),
               [](const RecordedBlock& each) { return each.address != 0; });
  return present;
}

std::uint64_t LiveSet::bytes() const {
  std::uint64_t sum = 0;
  for (const RecordedBlock& each : blocks_) sum += each.address != 0 ? each.bytes : 0;
  return sum;
}

std::uint64_t LiveSet::address_range() const {
  std::uint64_t begin = UINT64_MAX;
  std::uint64_t end = 0;
  for (const RecordedBlock& each : blocks_) {
    if (each.address == 0) continue;
    begin = std::min(begin, each.address);
    end = std::max(end, each.address + each.bytes);
  }
  return end > begin ? end - begin : 0;
}

}  // namespace allocbench
