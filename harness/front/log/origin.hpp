// The origin of a number: the sources and the card. A figure has one of each.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "harness/front/config/catalogue.hpp"
#include "protocol/event.hpp"
#include "protocol/sources.hpp"

namespace allocbench::front {

using protocol::Sources;

struct Origin {
  Sources sources;
  std::string device;          // its name
  std::string device_uuid;     // empty where there is none
  std::string driver_version;  // empty where there is none
  std::optional<std::uint64_t> sm_clock_max_mhz;
};

// The sources of this program and of its worker: both hashes if they were built from different sources.
Sources sources_with(const Catalogue& worker);

Origin origin_of(const Sources& sources, const std::optional<protocol::Device>& device);

// The reason why numbers of both must not be in one figure, as two phrases for the user: a description of `earlier` and
// of `now`. nullopt if they may be in one figure.
struct Difference {
  std::string earlier;
  std::string now;
};
std::optional<Difference> difference(const Origin& earlier, const Origin& now);

nlohmann::ordered_json to_json(const Sources& sources);
Sources sources_from_json(const nlohmann::ordered_json& json);

}  // namespace allocbench::front
