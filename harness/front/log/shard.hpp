// A part of a study that one machine measures: some of the configs of a partition that every machine makes alike.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace allocbench::front {

struct Shard {
  std::uint64_t index = 1;  // from 1 to count
  std::uint64_t count = 1;
  std::string partition;  // the hash of what all shards contain

  bool operator==(const Shard&) const = default;
  std::string text() const;  // 1/4
};

// "1/4"; nullopt for anything else, and for numbers out of range.
std::optional<Shard> parse_shard(const std::string& text);

nlohmann::ordered_json to_json(const Shard& shard);
// The member `shard` of the event `run`; throws protocol::Malformed.
std::optional<Shard> shard_of_run(const nlohmann::ordered_json& event);

}  // namespace allocbench::front
