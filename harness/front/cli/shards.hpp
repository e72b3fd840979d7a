// `allocbench study GROUP --shard I/N` selects those configs of the group that one of several machines measures. The
// selection depends only on I, N, the names of the configs (after --only) and the kept results of the checkout. So
// machines with the same checkout and the same --only make the same partition.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace allocbench::front {

struct Partition {
  std::vector<std::vector<std::string>> shards;  // names of configs in each shard
  std::string hash;
};

// Divides the configs into `count` shards. `references` contains one folder of kept results per device. The kept
// results of the slowest device give the time of a config. A config without results gets the average time of the
// configs with results.
Partition partition_of(const std::vector<std::string>& configs, std::uint64_t count, const std::string& references);

}  // namespace allocbench::front
