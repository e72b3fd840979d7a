// index_nodes is a hash index in nodes of 128 bytes. Warps insert, delete and look up keys, and the lanes of a warp
// search a node together.
//
// Paper: Ashkiani et al. 2018. The structure of the index is similar to their slab lists.
//
// A bucket is a chain of nodes. A node is one cache line with 14 keys and values, which all lanes of a warp read
// together. A warp takes up to 32 operations and executes them one after the other, each under the lock of its bucket.
// An insertion that finds the first node full, or no node, allocates a node. A deletion fills the gap with the last key
// of the first node. If the first node is then empty, the deletion frees it.
//
// Phases:
// * `build`: Warps insert all keys.
// * `update`: In each round, one kernel mixes deletions with as many insertions of new keys.
// * `look_up`: After the build and after each round, warps search every key that the index has or had, without calls of
//   the allocator.
// * `clear`: Warps delete all keys, so that every node is freed.
//
// The host knows every key's value after each round. Look-ups are compared one by one, and the chains before `clear` by
// digests.
#pragma once

#include "workloads/support/callers/requirements.hpp"
#include "workloads/support/contract/workload.hpp"

namespace allocbench {

struct IndexNodes {
  struct Parameters {
    std::uint32_t keys = 1 << 20;
    std::uint32_t keys_per_bucket = 28;
    std::uint32_t rounds = 4;
    double changed_share = 0.25;
    std::uint32_t threads_per_block = 128;

    static auto fields() {
      using P = Parameters;
      return std::tuple{
          Field{"keys", &P::keys, "keys", "keys that the index holds", "assumed"}.between(1, 1 << 24),
          Field{"keys_per_bucket", &P::keys_per_bucket, "keys",
                "mean keys of a bucket, at most: the number of buckets is a power of two", "assumed"}
              .between(1, 4096),
          Field{"rounds", &P::rounds, "rounds", "times that a share of the keys changes", "assumed"}.between(0, 100),
          Field{"changed_share", &P::changed_share, "",
                "share of the keys that a round deletes; it inserts as many new ones", "assumed"}
              .between(0, 1),
          Field{"threads_per_block", &P::threads_per_block, "threads", "threads of a block", "assumed"}.between(
              simt::warp_size, most_threads_per_block)};
    }
  };

  static constexpr WorkloadTraits traits{
      .name = "index_nodes",
      .display_name = "Index Nodes",
      .paper = "none: after Ashkiani et al. 2018, slab lists",
      .summary = "warps insert and delete keys of a hash index whose nodes have 128 bytes",
      .phases = "build update look_up clear",
      .writes_blocks = true,
      .application = true};

  static std::string unsupported(const Parameters& parameters, const RunSetting& setting);
  static std::unique_ptr<WorkloadRun> open(const Parameters& parameters, const RunSetting& setting,
                                           simt::Stream& stream);
};

}  // namespace allocbench
