#include "workloads/support/random/random.hpp"

#include <algorithm>
#include <cmath>

#include "workloads/support/random/philox.hpp"

namespace allocbench {

RandomWords random_words(std::uint64_t seed, RandomStream stream, std::uint64_t index, std::uint32_t sub_index) {
  return philox_words(seed, stream, index, sub_index);
}

// The density is proportional to x^-exponent on [1, bound + 1). The function inverts the cumulative distribution.
std::uint32_t draw_zipf(std::uint32_t word, std::uint32_t bound, double exponent) {
  const double u = unit_interval(word);
  const double end = static_cast<double>(bound) + 1;
  const double power = 1 - exponent;
  const double x = std::abs(power) < 1e-9 ? std::pow(end, u) : std::pow((std::pow(end, power) - 1) * u + 1, 1 / power);
  return std::min(static_cast<std::uint32_t>(x) - 1, bound - 1);
}

double draw_normal(std::uint32_t word, std::uint32_t other_word) {
  constexpr double pi = 3.14159265358979323846;
  const double radius = std::sqrt(-2 * std::log1p(-unit_interval(word)));
  return radius * std::cos(2 * pi * unit_interval(other_word));
}

}  // namespace allocbench
