// `allocbench study --device all`: the configs of a group spread over the GPUs of a host, one process of this program
// per GPU. A config stays on one card, because a figure has one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/front/cli/command_line.hpp"
#include "harness/front/cli/measuring.hpp"

namespace allocbench::front {

struct ConfigShare {
  std::string name;
  std::uint64_t work = 0;  // in any unit
  std::string card = {};   // UUID of the card that it has results of; empty = none
};

// The configs of each of the GPUs with these UUIDs. A config with results of one of them continues there; the others
// are spread so that all have about as much work.
std::vector<std::vector<std::string>> share_out(std::vector<ConfigShare> configs,
                                                const std::vector<std::string>& cards);

// Measures on all GPUs at once. A first signal to end is passed on, so that each process writes what it has. The exit
// code of the process that fared worst; `command` tells how to go on where one did not finish.
int study_on_all_devices(const StudyOptions& study, const Target& target, const std::vector<ConfigShare>& configs,
                         const std::string& command);

}  // namespace allocbench::front
