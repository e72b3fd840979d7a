#include "workloads/support/requests/request_sizes.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "workloads/support/parallel/parallel_for.hpp"
#include "workloads/support/random/random.hpp"

namespace allocbench {
namespace {

// Draws the size of each caller from its random word.
template <class SizeOf>
void draw_each(std::vector<std::uint32_t>& sizes, std::uint64_t seed, const SizeOf& size_of) {
  parallel_for(sizes.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t caller = begin; caller < end; ++caller) {
      const std::uint32_t drawn = random_words(seed, RandomStream::request_sizes, caller).words[0];
      sizes[caller] = static_cast<std::uint32_t>(size_of(drawn));
    }
  });
}

constexpr std::uint64_t footprint(std::uint64_t bytes) { return (std::max<std::uint64_t>(bytes, 1) + 15) / 16 * 16; }

}  // namespace

RequestSizes RequestSizes::fixed(std::uint64_t bytes) {
  RequestSizes result;
  result.fixed_ = bytes;
  return result;
}

RequestSizes RequestSizes::uniform(std::uint32_t min, std::uint32_t max, std::uint32_t callers, std::uint64_t seed) {
  if (min > max) {
    throw std::invalid_argument("uniform request sizes: the minimum " + std::to_string(min) + " exceeds the maximum " +
                                std::to_string(max));
  }
  RequestSizes result;
  result.sizes_.resize(callers);
  const std::uint64_t values = std::uint64_t{max} - min + 1;
  draw_each(result.sizes_, seed, [&](std::uint32_t drawn) { return min + ((drawn * values) >> 32); });
  return result;
}

RequestSizes RequestSizes::log_normal(double median, double sigma, std::uint32_t min, std::uint32_t max,
                                      std::uint32_t callers, std::uint64_t seed) {
  if (min > max) {
    throw std::invalid_argument("log-normal request sizes: the minimum " + std::to_string(min) +
                                " exceeds the maximum " + std::to_string(max));
  }
  RequestSizes result;
  result.sizes_.resize(callers);
  parallel_for(callers, [&](std::size_t begin, std::size_t end) {
    for (std::size_t caller = begin; caller < end; ++caller) {
      const RandomWords random = random_words(seed, RandomStream::request_sizes, caller);
      const double bytes = std::round(median * std::exp(sigma * draw_normal(random.words[0], random.words[1])));
      result.sizes_[caller] = static_cast<std::uint32_t>(std::clamp(bytes, double{1} * min, double{1} * max));
    }
  });
  return result;
}

RequestSizes RequestSizes::list(const std::vector<std::uint64_t>& sizes, const std::vector<std::uint64_t>& weights,
                                std::uint32_t callers, std::uint64_t seed) {
  if (sizes.empty()) throw std::invalid_argument("a list of request sizes needs at least one size");
  if (!weights.empty() && weights.size() != sizes.size()) {
    throw std::invalid_argument(std::to_string(sizes.size()) + " request sizes, but " + std::to_string(weights.size()) +
                                " weights");
  }
  if (*std::max_element(sizes.begin(), sizes.end()) > UINT32_MAX) {
    throw std::invalid_argument("sizes of a list are below 4 GiB");
  }
  std::vector<std::uint64_t> upper(sizes.size(), 1);  // running sums of the weights
  if (!weights.empty()) upper = weights;
  std::partial_sum(upper.begin(), upper.end(), upper.begin());
  if (upper.back() == 0) throw std::invalid_argument("all weights of the request sizes are zero");

  RequestSizes result;
  result.sizes_.resize(callers);
  draw_each(result.sizes_, seed, [&](std::uint32_t drawn) {
    const double point = static_cast<double>(drawn) * 0x1p-32 * static_cast<double>(upper.back());
    const auto slot = std::upper_bound(upper.begin(), upper.end(), static_cast<std::uint64_t>(point));
    return sizes[static_cast<std::size_t>(slot - upper.begin())];
  });
  return result;
}

std::uint64_t RequestSizes::largest() const {
  return is_fixed() ? fixed_ : *std::max_element(sizes_.begin(), sizes_.end());
}

std::uint64_t RequestSizes::total_bytes(std::uint64_t callers) const {
  if (is_fixed()) return callers * footprint(fixed_);
  return std::accumulate(sizes_.begin(), sizes_.end(), std::uint64_t{0},
                         [](std::uint64_t sum, std::uint32_t bytes) { return sum + footprint(bytes); });
}

}  // namespace allocbench
