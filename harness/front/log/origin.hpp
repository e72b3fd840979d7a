// Origin states where a measured number comes from: the sources, the card and its driver, and the options of the CPU
// executor. All numbers of a figure should have the same origin.
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
  std::string executor;        // options of the CPU executor, as words; empty: none
  std::string device;          // name of the device
  std::string device_uuid;     // UUID of the device; empty if it has none
  std::string driver_version;  // version of the driver; empty if there is none
  std::optional<std::uint64_t> sm_clock_max_mhz;
};

// Returns the sources of this program and of its worker. If they were built from different sources, `measured_revision`
// has both hashes.
Sources sources_with(const Catalogue& worker);

Origin origin_of(const Sources& sources, const std::string& executor, const std::optional<protocol::Device>& device);

// Describes to the user two origins whose numbers must not be in one figure. difference() returns nullopt if the
// numbers may be in one figure.
struct Difference {
  std::string earlier;
  std::string now;
};
std::optional<Difference> difference(const Origin& earlier, const Origin& now);

std::string executor_text(const Origin& origin);  // such as "the CPU executor with --lockstep 1"

nlohmann::ordered_json to_json(const Sources& sources);
Sources sources_from_json(const nlohmann::ordered_json& json);

}  // namespace allocbench::front
