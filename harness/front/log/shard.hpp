// A part of a study for one machine: some of the configs of a partition, which is the same on every machine.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace allocbench::front {

struct Shard {
  std::uint64_t index = 1;  // from 1 to count
  std::uint64_t count = 1;
  std::string partition;  // the hash of the contents of all shards

  bool operator==(const Shard&) const = default;
  std::string text() const;  // 1/4
};

// Parses "1/4". nullopt for other texts and for numbers out of range.
std::optional<Shard> parse_shard(const std::string& text);

nlohmann::ordered_json to_json(const Shard& shard);
// The member `shard` of the event `run`; throws protocol::Malformed.
std::optional<Shard> shard_of_run(const nlohmann::ordered_json& event);

}  // namespace allocbench::front
