#include "harness/front/log/origin.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "harness/front/log/host.hpp"
#include "protocol/json_members.hpp"

namespace allocbench::front {
namespace {

using Json = nlohmann::ordered_json;

std::string sources_text(const Sources& sources) {
  const std::string& hash = sources.measured_revision;
  return fmt::format("revision {} (commit {})", hash.empty() ? "unknown" : hash,
                     sources.revision.empty() ? "unknown" : sources.revision);
}

}  // namespace

Sources sources_with(const Catalogue& worker) {
  Sources sources = protocol::program_sources();
  if (worker.measured_revision.empty() || worker.measured_revision == sources.measured_revision) return sources;
  sources.measured_revision += "+" + worker.measured_revision;
  return sources;
}

Origin origin_of(const Sources& sources, const std::string& executor, const std::optional<protocol::Device>& device) {
  Origin origin{sources, executor, "", "", "", {}};
  if (!device) return origin;
  origin.device = device->name;
  origin.device_uuid = device->uuid.value_or("");
  origin.driver_version = device->driver_version.value_or(device->driver.value_or(""));
  origin.sm_clock_max_mhz = device->sm_clock_max_mhz;
  return origin;
}

std::string executor_text(const Origin& origin) {
  return origin.executor.empty() ? "the CPU executor without options" : "the CPU executor with " + origin.executor;
}

std::optional<Difference> difference(const Origin& earlier, const Origin& now) {
  if (earlier.sources.measured_revision != now.sources.measured_revision) {
    return Difference{sources_text(earlier.sources), sources_text(now.sources)};
  }
  if (earlier.executor != now.executor) return Difference{executor_text(earlier), executor_text(now)};
  if (earlier.device_uuid != now.device_uuid) {
    return Difference{fmt::format("{} ({})", earlier.device, earlier.device_uuid),
                      fmt::format("{} ({})", now.device, now.device_uuid)};
  }
  if (earlier.driver_version != now.driver_version) {
    return Difference{"driver " + earlier.driver_version, "driver " + now.driver_version};
  }
  return std::nullopt;
}

Json to_json(const Sources& sources) {
  return {{"revision", sources.revision},
          {"measured_revision", sources.measured_revision},
          {"dirty", sources.dirty ? Json(*sources.dirty) : Json()}};
}

Sources sources_from_json(const Json& json) {
  return {protocol::text_member_or(json, "revision", ""), protocol::text_member_or(json, "measured_revision", ""),
          protocol::optional_truth(json, "dirty")};
}

}  // namespace allocbench::front
