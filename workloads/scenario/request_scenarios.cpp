#include "workloads/scenario/request_scenarios.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace allocbench {
namespace {

constexpr std::array scenarios{
    RequestScenario{"alloc_16", 16, 16, false},       RequestScenario{"alloc_256", 256, 256, false},
    RequestScenario{"alloc_1024", 1024, 1024, false}, RequestScenario{"alloc_4096", 4096, 4096, false},
    RequestScenario{"alloc_4100", 4100, 4100, false}, RequestScenario{"alloc_8192", 8192, 8192, false},
    RequestScenario{"alloc_mixed", 4, 8192, false},   RequestScenario{"alloc_free_4096", 4096, 4096, true}};

}  // namespace

std::vector<std::string> request_scenario_names() {
  std::vector<std::string> names;
  names.reserve(scenarios.size());
  for (const RequestScenario& scenario : scenarios) names.emplace_back(scenario.name);
  return names;
}

RequestScenario request_scenario(std::string_view name) {
  const auto found =
      std::find_if(scenarios.begin(), scenarios.end(), [&](const RequestScenario& each) { return each.name == name; });
  if (found == scenarios.end()) throw std::out_of_range("no scenario is called " + std::string(name));
  return *found;
}

}  // namespace allocbench
