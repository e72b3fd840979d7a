// This file decides the order of steps. A step is the next round of a cell.
//
// If time is limited, each step has a price. Steps of about the same price form a pass, in which usually one process
// per allocator measures them. The cheapest pass comes first. Without a time limit a pass gives one round to the cells
// with the fewest rounds.
#pragma once

#include <compare>
#include <cstdint>

#include "harness/front/run/forecast.hpp"

namespace allocbench::front {

// What has values for fewer than half of its cells. A curve has the cells of one allocator in a config, and a figure
// has all cells of the config. Cells that can get no value any more do not count.
enum class Sparse { nothing, curve, figure };

struct Step {
  Forecast forecast;             // forecast of the round
  double failure_seconds = 0;    // seconds that a failure costs
  std::uint64_t rounds_had = 0;  // number of whole rounds
  std::uint64_t rounds_of_number = 3;
  std::uint64_t rounds_of_interval = 6;
  Sparse sparse = Sparse::nothing;  // whether the cell's figure is sparse, or only its curve

  // Returns whether the round counts for the cell's number. A turn with time left takes only such steps ahead of their
  // pass, because other allocators' cells with fewer rounds come before later steps.
  bool is_of_number() const { return rounds_had < rounds_of_number; }
};

// Returns the price of a step: its probable seconds divided by its worth and its chance of success. A first round is
// worth at least as much as any later round, because it gives a cell its value.
double price(const Step& step);

// The parts of a run, in their order. Each consists of passes.
enum class Part {
  first_figure,  // one round of the cheapest of several configs, if time is limited, for an early first figure
  usual,
  doubtful,  // cells that will probably fail, if there is no time limit
  deferred   // cells that exceeded a short deadline, or certainly would; they get the whole one
};

struct Place {
  Part part = Part::usual;
  int pass = 0;
  auto operator<=>(const Place&) const = default;
};

// Returns the number of the pass for steps of this price. Prices of one pass differ by a factor of at most 2.
int pass_of(double price);

}  // namespace allocbench::front
