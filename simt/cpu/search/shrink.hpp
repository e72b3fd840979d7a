// shrink() finds the few decisions that make a run fail (delta debugging: Zeller & Hildebrandt, IEEE TSE 2002).
#pragma once

#include <cstdint>
#include <functional>

#include "simt/cpu/search/schedule.hpp"

namespace simt {

struct Shrunk {
  Schedule schedule;
  std::uint32_t runs = 0;  // number of calls of the predicate
  bool minimal = false;    // true if no single decision can be removed; false if the runs were used up
};

// Shortens a schedule that fails. `still_fails` replays a schedule and returns whether it shows the same failure.
Shrunk shrink(const Schedule& schedule, const std::function<bool(const Schedule&)>& still_fails,
              std::uint32_t max_runs = 5000);

}  // namespace simt
