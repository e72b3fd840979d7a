#include "harness/front/run/order.hpp"

#include <algorithm>
#include <cmath>

namespace allocbench::front {
namespace {

// With larger factors the first turns measure expensive cells before they come to the cheap ones of other allocators.
constexpr double factor_of_pass = 2;
constexpr double least_price = 1e-5;

// Worth of a first round. A round of more worth has a lower price. In a sparse figure only cheap rounds have the
// highest worth. A figure whose cells all fill the pool for seconds would otherwise take the time of many other values.
constexpr double worth_in_sparse_figure = 64;
constexpr double most_seconds_in_sparse_figure = 0.3;
constexpr double worth_in_sparse_curve = 2;
constexpr double usual_worth = 1;
// Worth of a later round. The second round alone gives little, so cells without a value come before it. The third round
// turns a provisional value into one that a claim may use. Later rounds add an interval and then narrow it. They are
// worth so little that cells with fewer than three rounds nearly always come first.
constexpr double worth_of_second_round = 0.2;
constexpr double worth_of_number = 1;
constexpr double worth_of_interval = 0.002;
constexpr double worth_of_precision = 0.0002;

double worth_of_first_round(Sparse sparse, double seconds) {
  if (sparse == Sparse::figure && seconds <= most_seconds_in_sparse_figure) return worth_in_sparse_figure;
  return sparse == Sparse::nothing ? usual_worth : worth_in_sparse_curve;
}

double worth_of_later_round(const Step& step) {
  if (step.rounds_had + 1 < step.rounds_of_number) return worth_of_second_round;
  if (step.is_of_number()) return worth_of_number;
  return step.rounds_had < step.rounds_of_interval ? worth_of_interval : worth_of_precision;
}

}  // namespace

double price(const Step& step) {
  const double risk = step.forecast.risk;
  const double seconds = ((1 - risk) * step.forecast.seconds + risk * step.failure_seconds) / (1 - risk);
  const double worth = step.rounds_had == 0 ? worth_of_first_round(step.sparse, seconds) : worth_of_later_round(step);
  return std::max(least_price, seconds / worth);
}

int pass_of(double price) { return static_cast<int>(std::floor(std::log(price) / std::log(factor_of_pass))); }

}  // namespace allocbench::front
