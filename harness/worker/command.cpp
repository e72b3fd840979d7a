#include "harness/worker/command.hpp"

#include <fmt/format.h>

#include <numeric>

namespace allocbench::worker {
namespace {

using nlohmann::json;

ParameterValues parameters_of(const json& command, const std::vector<ParameterInfo>& infos, const std::string& owner) {
  const auto found = command.find("parameters");
  return found == command.end() ? ParameterValues{} : read_parameters(*found, infos, owner);
}

StartState state_of(const json& command) {
  if (!command.contains("state")) return StartState::fresh;
  const std::string word = text_member(command, "state");
  if (word == "fresh") return StartState::fresh;
  if (word == "reused") return StartState::reused;
  throw BadCommand(fmt::format("\"state\": \"{}\" is neither fresh nor reused", word));
}

template <class Entry>
const Entry& known(const Entry* entry, const char* kind, const std::string& name) {
  if (entry == nullptr) throw BadCommand(fmt::format("this worker has no {} \"{}\"; see --describe", kind, name));
  return *entry;
}

}  // namespace

AllocatorRequest read_allocator_request(const json& command, const Registry& registry) {
  const std::string name = text_member(command, "allocator");
  const AllocatorType& entry = known(registry.find_allocator(name), "allocator", name);
  const std::uint64_t pool_bytes = count_member(command, "pool_bytes");
  if (pool_bytes == 0) throw BadCommand("\"pool_bytes\" is 0");
  return {&entry, parameters_of(command, entry.parameters, name), pool_bytes};
}

CellRequest read_cell_request(const json& command, const Registry& registry) {
  const std::string name = text_member(command, "workload");
  const WorkloadType& entry = known(registry.find_workload(name), "workload", name);
  CellRequest request;
  request.workload = &entry;
  request.parameters = parameters_of(command, entry.parameters, name);
  request.seed = count_member_or(command, "seed", 0);
  request.state = state_of(command);
  request.warmups = static_cast<std::uint32_t>(count_member_or(command, "warmups", 0));
  request.counted_passes = static_cast<std::uint32_t>(count_member_or(command, "counted_passes", 1));
  return request;
}

double total_seconds(const Sample& sample) {
  return std::accumulate(sample.phases.begin(), sample.phases.end(), 0.0,
                         [](double sum, const Phase& phase) { return sum + phase.seconds; });
}

}  // namespace allocbench::worker
