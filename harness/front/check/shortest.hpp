// This file searches for a short schedule that shows a finding. Shrinking stops when no single change makes the
// schedule shorter. So other failing runs of the same allocator and model are shrunk, too.
#pragma once

#include <cstdint>
#include <optional>

#include "harness/front/check/finding.hpp"
#include "harness/front/workers/worker_program.hpp"

namespace allocbench::front {

struct ShortestRun {
  Finding finding;  // the finding with the shortest schedule, and the seed and strategy of that run
  std::uint64_t decisions = 0;
  std::size_t starts = 0;  // failing runs that were shrunk
  std::uint64_t runs = 0;  // all runs made
};

// Returns the shortest run that was found. `finding` must have a schedule. The search for other runs with the same
// outcome begins at `first_seed`. Returns nothing if the user interrupted. Throws EnvironmentError if no run could be
// shrunk.
std::optional<ShortestRun> shortest_run(const WorkerProgram& program, const Finding& finding, std::uint64_t first_seed,
                                        std::size_t jobs);

}  // namespace allocbench::front
