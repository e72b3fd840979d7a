// write_performance measures how fast threads write into the blocks that an allocator returned.
//
// Paper: Winter et al., PPoPP'21, write performance (fig. 11.e).
//
// All threads allocate. Then `passes` kernels write all blocks: consecutive threads write consecutive words (4 B) of
// consecutive blocks. Blocks that are far apart or not in the order of their owners need more memory transactions.
// Phase `write` is the time of all passes. Phase `baseline` is the time of the same passes over pieces that a scan
// packed into one allocation of the host. Allocating and freeing are not timed. After each of the two phases, the words
// are read back and compared. With the state `reused` and some warm-ups, the allocator can return recycled blocks.
#pragma once

#include "workloads/support/callers/caller_parameters.hpp"
#include "workloads/support/contract/workload.hpp"
#include "workloads/support/requests/size_parameters.hpp"

namespace allocbench {

struct WritePerformance {
  struct Parameters : CallerParameters, SizeParameters {
    std::uint32_t passes = 100;

    static auto fields() {
      using P = Parameters;
      return std::tuple_cat(
          caller_fields<P>("threads that allocate, one request each", "Winter et al., PPoPP'21: 2^16 to 2^20"),
          size_fields<P>(),
          std::tuple{
              Field{"passes", &P::passes, "passes", "kernels that write all words", "Winter et al., PPoPP'21"}.between(
                  1, 10'000)});
    }
  };

  static constexpr WorkloadTraits traits{
      .name = "write_performance",
      .display_name = "Write Performance",
      .paper = "Winter et al., PPoPP'21, fig. 11.e",
      .summary = "kernels that write all blocks, word by word, against the same over packed memory",
      .phases = "write baseline",
      .writes_blocks = true};

  static std::string unsupported(const Parameters& parameters, const RunSetting& setting);
  static std::unique_ptr<WorkloadRun> open(const Parameters& parameters, const RunSetting& setting,
                                           simt::Stream& stream);
};

}  // namespace allocbench
