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
    return std::tuple(!cell.without_cheap, cell.is_reworked, cell.seconds, place);
  };
  std::vector<std::size_t> order(waiting.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, rank);
  double seconds = 0;
  const auto too_many = std::ranges::find_if(order, [&](std::size_t place) {
    seconds += first_rounds_per_number * waiting[place].seconds;
    return seconds > seconds_left;
  });
  if (too_many != order.begin()) order.erase(too_many, order.end());
  return order;
}

}  // namespace allocbench::front
