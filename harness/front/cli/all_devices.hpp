// `allocbench study --device all`: the configs of a group spread over the GPUs of a host, one process of this program
// per GPU. A config stays on one card, because a figure has one.
#pragma once

#include <string>
#include <vector>

#include "harness/front/cli/command_line.hpp"
#include "harness/front/cli/measuring.hpp"

namespace allocbench::front {

struct ConfigSize {
  std::string name;
  std::size_t cells = 0;
};

// The configs of each of `devices` GPUs, about equally many cells on each. The same for the same configs, so that a
// resumed study finds every config on its card. GPUs without a config are left out.
std::vector<std::vector<std::string>> share_out(std::vector<ConfigSize> configs, std::size_t devices);

// Measures on all GPUs at once. The exit code of the process that fared worst.
int study_on_all_devices(const StudyOptions& study, const Target& target, const std::vector<ConfigSize>& configs);

}  // namespace allocbench::front
