// In array_list, many threads allocate small items, either with malloc or in an ArrayList. All items are freed
// together, at the end of the sample.
//
// Paper: Spliet et al., GPGPU-7 2014, sec. 5.2, fig. 6. Each thread takes 4 or 8 bytes, ten times in a row, and writes
// its items.
//
// `method` has three values (containers/array_list.hpp):
// * `malloc`: Every item is a block.
// * `grow`: Every item is a chunk of a list.
// * `grow_local`: The threads of a block add up their requests, and one of them allocates a chunk for all.
//
// Phases:
// * `alloc`: The threads make their requests. The paper times only this phase.
// * `get`, not with method `malloc`: The first thread of every block looks up one element. The indices of these
//   elements are evenly spaced from 0 on.
// * `clear`: With a list, one thread clears it. With `malloc`, all threads free their items.
//
// After each sample, the words of all items, the chunks of the list and the results of `get` are checked.
#pragma once

#include <string>

#include "workloads/support/callers/requirements.hpp"
#include "workloads/support/contract/workload.hpp"

namespace allocbench {

struct ArrayListGrowth {
  struct Parameters {
    std::uint32_t threads = 1024;
    std::uint32_t threads_per_block = 128;
    std::uint32_t iterations = 10;
    std::uint32_t item_bytes = 4;
    std::string method = "grow_local";

    Geometry geometry() const { return Geometry::of_callers(threads, threads_per_block, simt::warp_size); }
    bool uses_list() const { return method != "malloc"; }
    bool grows_together() const { return method == "grow_local"; }
    // Returns the number of requests to the allocator. request_bytes() returns the size of the largest request.
    std::uint32_t requests() const { return (grows_together() ? geometry().blocks : threads) * iterations; }
    std::uint64_t request_bytes() const;
    // Returns a geometry in which each request of a sample has its own caller.
    Geometry request_geometry() const {
      return Geometry::of_callers(requests(), threads_per_block, grows_together() ? 1 : simt::warp_size);
    }

    static auto fields() {
      using P = Parameters;
      return std::tuple{
          Field{"threads", &P::threads, "threads", "threads that take items", "Spliet et al. 2014, fig. 6"}.between(
              1, 1 << 24),
          Field{"threads_per_block", &P::threads_per_block, "threads", "threads of a block, which share a chunk",
                "assumed; the paper has multiples of 384 threads in all"}
              .between(1, most_threads_per_block),
          Field{"iterations", &P::iterations, "items", "items that a thread takes, one after the other",
                "Spliet et al. 2014, sec. 5.2"}
              .between(1, 1 << 20),
          Field{"item_bytes", &P::item_bytes, "B", "size of an item", "Spliet et al. 2014, sec. 5.2: 4 or 8"}
              .between(4, 4096)
              .powers_of_two(),
          Field{
              "method", &P::method, "",
              "malloc: every item is a block; grow: every item is a chunk of a list; grow_local: the items of a thread "
              "block are one chunk",
              "Spliet et al. 2014, sec. 4.2.1 and 5.2"}
              .one_of({"malloc", "grow", "grow_local"})};
    }
  };

  static constexpr WorkloadTraits traits{
      .name = "array_list",
      .display_name = "ArrayList Growth",
      .paper = "Spliet et al. 2014, sec. 5.2",
      .summary = "every thread takes small items, each by malloc or together with its block from a list",
      .phases = "alloc get clear",
      .writes_blocks = true};

  static std::string unsupported(const Parameters& parameters, const RunSetting& setting);
  static std::unique_ptr<WorkloadRun> open(const Parameters& parameters, const RunSetting& setting,
                                           simt::Stream& stream);
};

}  // namespace allocbench
