// Which steps come first. A step is the next round of a cell.
//
// Where time is limited, a step has a price: the seconds that it probably takes, for what it is worth. Steps of about
// the same price make a pass, in which a process per allocator measures them; the cheapest pass comes first. Without a
// limit of time all cells get one round after the other, and those that will probably fail come last.
#pragma once

#include <compare>
#include <cstdint>

#include "harness/front/run/forecast.hpp"

namespace allocbench::front {

struct Step {
  Forecast forecast;             // of the round
  double failure_seconds = 0;    // what a failure costs
  std::uint64_t rounds_had = 0;  // whole ones
  std::uint64_t rounds_of_number = 3;
  std::uint64_t rounds_of_interval = 6;
  bool figure_is_bare = false;  // fewer than half of the config's cells have a value
  bool is_reworked = false;     // a figure of a paper is about other forms
};

// Seconds per value. A first round gives a cell its value; the others make it better.
double price(const Step& step);

// Passes in their order.
enum class Part {
  first_figure,  // one round of the cheapest config, so that a figure is there soon
  usual,
  doubtful,  // where time is not limited: what will probably fail
  deferred   // what used up its first, short deadline gets the whole one
};

struct Place {
  Part part = Part::usual;
  int pass = 0;
  auto operator<=>(const Place&) const = default;
};

// The pass of a price: prices of one pass differ by a factor of 8 at most.
int pass_of(double price);

}  // namespace allocbench::front
