// In producer_consumer, one kernel allocates blocks, and a later kernel frees them, by default in other threads.
//
// In alloc_free every thread frees its own block. This suits designs in which a thread or multiprocessor keeps what it
// freed. In producer_consumer, `freed_by` selects the freeing thread: the same thread, another lane of its warp,
// another warp of its block, another block, or any thread (drawn from the seed). The host passes the pointers on
// between the two timed kernels. The kernels are those of alloc_free.
#pragma once

#include <array>

#include "workloads/support/callers/caller_parameters.hpp"
#include "workloads/support/contract/workload.hpp"
#include "workloads/support/requests/size_parameters.hpp"

namespace allocbench {

struct ProducerConsumer {
  static constexpr std::array<const char*, 5> consumers{"same_thread", "other_lane", "other_warp", "other_block",
                                                        "anybody"};

  struct Parameters : CallerParameters, SizeParameters {
    std::string freed_by = "other_warp";

    static auto fields() {
      using P = Parameters;
      return std::tuple_cat(
          caller_fields<P>("threads that allocate a block each and free one each", "assumed"), size_fields<P>(),
          std::tuple{Field{"freed_by", &P::freed_by, "", "who frees a block, seen from the thread that allocated it",
                           "assumed: the papers free in the allocating thread"}
                         .one_of({consumers.begin(), consumers.end()})});
    }
  };

  static constexpr WorkloadTraits traits{.name = "producer_consumer",
                                         .display_name = "Producer, Consumer",
                                         .paper = "assumed: the papers free in the allocating thread",
                                         .summary = "one kernel allocates, other threads free in the next",
                                         .phases = "alloc free"};

  static std::string unsupported(const Parameters& parameters, const RunSetting& setting);
  static std::unique_ptr<WorkloadRun> open(const Parameters& parameters, const RunSetting& setting,
                                           simt::Stream& stream);
};

// Returns, for each caller, the owner of the block that it frees. Every block is freed once. If there is no other lane,
// warp or block, callers free their own blocks. If the last warp or block is partial, some callers free blocks of their
// own warp or block.
std::vector<std::uint32_t> producers_of(const Geometry& geometry, const std::string& freed_by, std::uint64_t seed);

}  // namespace allocbench
