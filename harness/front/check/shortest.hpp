// The shortest schedule that shows a finding: shrinking stops where no single change helps, so other failing runs of
// the same allocator and model are shrunk as well.
#pragma once

#include <cstdint>
#include <optional>

#include "harness/front/check/finding.hpp"
#include "harness/front/run/worker_program.hpp"

namespace allocbench::front {

struct ShortestRun {
  Finding finding;  // with the seed and strategy that the shortest schedule came from
  std::uint64_t decisions = 0;
  std::size_t starts = 0;  // failing runs that were shrunk
  std::uint64_t runs = 0;  // all in all
};

// `finding` has its schedule; `first_seed` is where the search for others with the same outcome begins. Nothing
// when the user interrupted; throws EnvironmentError when the finding itself could not be shrunk.
std::optional<ShortestRun> shortest_run(const WorkerProgram& program, const Finding& finding, std::uint64_t first_seed,
                                        std::size_t jobs);

}  // namespace allocbench::front
