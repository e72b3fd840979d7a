#include "harness/front/run/admission.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace allocbench::front {
namespace {

// The later two rounds have no verification, which takes about half of the first one.
constexpr double first_rounds_per_number = 2;

}  // namespace

std::vector<std::size_t> admit(const std::vector<ExpensiveCell>& waiting, double seconds_left) {
  const auto rank = [&](std::size_t place) {
    const ExpensiveCell& cell = waiting[place];
    return std::tuple(!cell.is_first_of_figure, cell.is_reworked, cell.seconds, place);
  };
  std::vector<std::size_t> order(waiting.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, rank);
  std::vector<std::size_t> admitted;
  for (const std::size_t place : order) {
    const double seconds = first_rounds_per_number * waiting[place].seconds;
    if (seconds > seconds_left) continue;
    seconds_left -= seconds;
    admitted.push_back(place);
  }
  return admitted.empty() ? order : admitted;
}

}  // namespace allocbench::front
