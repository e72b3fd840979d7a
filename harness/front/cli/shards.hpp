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

// `references`: the folder with a folder of kept results per card. Whatever card measured a config, it says about how
// long that takes; a config that nobody measured takes as long as the others on average.
Partition partition_of(const std::vector<std::string>& configs, std::uint64_t count, const std::string& references);

}  // namespace allocbench::front
