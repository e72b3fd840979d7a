// `allocbench study GROUP --shard I/N`: which configs of the group one of several machines measures. Only the names of
// the configs and the results that the checkout keeps decide, so that all machines make the same partition.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace allocbench::front {

struct Partition {
  std::vector<std::vector<std::string>> shards;  // names of configs
  std::string hash;
};

// `references`: the folder with a folder of kept results per card. Results of any card tell how long a config takes. A
// config without results takes as long as the others on average.
Partition partition_of(const std::vector<std::string>& configs, std::uint64_t count, const std::string& references);

}  // namespace allocbench::front
