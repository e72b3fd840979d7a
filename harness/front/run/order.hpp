// The order of steps. A step is the next round of a cell.
//
// If time is limited, each step has a price: its probable seconds divided by its worth. Steps of about the same price
// form a pass, in which one process per allocator measures them. The cheapest pass comes first. Without a time limit
// all cells get one round after the other, and cells that will probably fail come last.
#pragma once

#include <compare>
#include <cstdint>

#include "harness/front/run/forecast.hpp"

namespace allocbench::front {

struct Step {
  Forecast forecast;             // of the round
  double failure_seconds = 0;    // seconds of a failure
  std::uint64_t rounds_had = 0;  // whole ones
  std::uint64_t rounds_of_number = 3;
  std::uint64_t rounds_of_interval = 6;
  bool figure_is_bare = false;  // fewer than half of the config's cells have a value
  bool is_reworked = false;     // an allocator form that no figure of a paper shows
};

// Seconds per value. A first round gives a cell its value, and later rounds improve it.
double price(const Step& step);

// Passes in their order.
enum class Part {
  first_figure,  // one round of the cheapest config, so that a first figure is ready soon
  usual,
  doubtful,  // without a time limit: cells that will probably fail
  deferred   // cells that used up their first, short deadline get the whole one
};

struct Place {
  Part part = Part::usual;
  int pass = 0;
  auto operator<=>(const Place&) const = default;
};

// The pass of a price. Prices of one pass differ by a factor of at most 8.
int pass_of(double price);

}  // namespace allocbench::front
