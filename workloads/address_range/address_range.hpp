// address_range measures the range of addresses that the blocks of a round occupy, over many rounds.
//
// Paper: Winter et al., PPoPP'21, fragmentation test (fig. 11.a). In each of `rounds` rounds all threads allocate, and
// then all free. The workload computes the distance between the lowest and the highest address of each round. In this
// workload the distance includes the last byte of the last block, so without nulls it is never less than the requested
// bytes.
//
//   address_spread = distance of the widest round / bytes requested in a round
//   running_spread = distance over all rounds together / bytes requested in a round
//
// Both values are 1 for an allocator that packs the blocks of every round without gaps into the same addresses. A wide
// range does not mean that memory is wasted. The workload `fragmentation` measures the use of a full pool. Verification
// passes run at most four rounds.
#pragma once

#include "workloads/support/callers/caller_parameters.hpp"
#include "workloads/support/contract/workload.hpp"
#include "workloads/support/requests/size_parameters.hpp"

namespace allocbench {

struct AddressRange {
  struct Parameters : CallerParameters, SizeParameters {
    std::uint32_t rounds = 100;

    static auto fields() {
      using P = Parameters;
      return std::tuple_cat(
          caller_fields<P>("threads of a round, one request each", "Winter et al., PPoPP'21: 100,000"),
          size_fields<P>(),
          std::tuple{
              Field{"rounds", &P::rounds, "rounds", "times that all allocate and free", "Winter et al., PPoPP'21"}
                  .between(1, 10'000)});
    }
  };

  static constexpr WorkloadTraits traits{.name = "address_range",
                                         .display_name = "Address Range",
                                         .paper = "Winter et al., PPoPP'21, fig. 11.a",
                                         .summary = "rounds of N mallocs and N frees: how far apart are the blocks?",
                                         .phases = "alloc free"};

  static std::string unsupported(const Parameters& parameters, const RunSetting& setting);
  static std::unique_ptr<WorkloadRun> open(const Parameters& parameters, const RunSetting& setting,
                                           simt::Stream& stream);
};

}  // namespace allocbench
