// A shard is the part of a study that one machine measures: some of the configs. Every machine must divide the study
// into the same shards.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace allocbench::front {

struct Shard {
  std::uint64_t index = 1;  // number from 1 to `count`
  std::uint64_t count = 1;
  std::string partition;      // hash of the configs' names, shard by shard
  std::uint64_t configs = 0;  // number of configs in this shard; 0 in logs that do not contain it

  bool operator==(const Shard& other) const {
    return index == other.index && count == other.count && partition == other.partition;
  }
  std::string text() const;  // "1/4"
};

// Parses "1/4". Returns nullopt for other texts and for numbers out of range.
std::optional<Shard> parse_shard(const std::string& text);

nlohmann::ordered_json to_json(const Shard& shard);
// Returns the event's member `shard`, or nullopt if there is none. Throws protocol::Malformed if the member is wrong.
std::optional<Shard> shard_of_run(const nlohmann::ordered_json& event);

}  // namespace allocbench::front
