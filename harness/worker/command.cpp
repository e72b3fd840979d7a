#include "harness/worker/command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "protocol/parameter_json.hpp"
#include "protocol/parameter_values.hpp"

namespace allocbench::worker {
namespace {

using protocol::Malformed;

// Returns the mistake in a value that the description does not allow.
std::string complaint_about(const ParameterInfo& info, const ParameterValue& value) {
  if (value.index() != info.default_value.index()) {
    return fmt::format("must be of type {}", protocol::word(info.type()));
  }
  if (!info.choices.empty()) return fmt::format("must be one of {}", fmt::join(info.choices, ", "));
  const std::string bounds = fmt::format("must be from {} to {}", info.minimum, info.maximum);
  return info.power_of_two ? bounds + " and a power of two" : bounds;
}

// Returns the checked values. Parameters that are not in the command keep their defaults.
ParameterValues checked(const ParameterValues& values, const std::vector<ParameterInfo>& infos,
                        const std::string& owner) {
  ParameterValues result;
  for (const auto& [name, given] : values) {
    const auto info = std::find_if(infos.begin(), infos.end(),
                                   [&name = name](const ParameterInfo& each) { return each.name == name; });
    if (info == infos.end()) throw Malformed(fmt::format("{} has no parameter \"{}\"", owner, name));
    ParameterValue value = protocol::converted(given, info->type());
    if (!protocol::allows(*info, value)) {
      throw Malformed(fmt::format("{}: parameter \"{}\" {}; found {}", owner, name, complaint_about(*info, value),
                                  protocol::to_json(given).dump()));
    }
    result.emplace_back(name, std::move(value));
  }
  return result;
}

template <class Entry>
const Entry& known(const Entry* entry, const char* kind, const std::string& name) {
  if (entry == nullptr) throw Malformed(fmt::format("this worker has no {} \"{}\"; see --describe", kind, name));
  return *entry;
}

std::uint32_t small_count(std::uint64_t count, const char* name) {
  if (count > std::numeric_limits<std::uint32_t>::max()) {
    throw Malformed(fmt::format("\"{}\" must be below 2^32; found {}", name, count));
  }
  return static_cast<std::uint32_t>(count);
}

}  // namespace

AllocatorRequest resolve(const protocol::LoadAllocator& command, const Registry& registry) {
  const AllocatorType& entry = known(registry.find_allocator(command.allocator), "allocator", command.allocator);
  return {&entry, checked(command.parameters, entry.parameters, command.allocator), command.pool_bytes};
}

std::uint32_t samples_of(const protocol::SampleCell& command) { return small_count(command.samples, "samples"); }

VerificationLimits limits_of(const protocol::VerifyCell& command) {
  return {command.seconds, command.contents_seconds, command.trace, small_count(command.trace_calls, "trace_calls")};
}

CellRequest resolve(const protocol::OpenCell& command, const Registry& registry) {
  const WorkloadType& entry = known(registry.find_workload(command.workload), "workload", command.workload);
  CellRequest request;
  request.workload = &entry;
  request.parameters = checked(command.parameters, entry.parameters, command.workload);
  small_count(command.settings.warmups, "warmups");
  small_count(command.settings.counted_passes, "counted_passes");
  request.settings = command.settings;
  return request;
}

}  // namespace allocbench::worker
