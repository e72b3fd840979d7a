// `allocbench study --device all` spreads the configs of a group over the GPUs of a host, with one process of this
// program per GPU. A config stays on one card, because a figure must come from one card.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/front/cli/command_line.hpp"
#include "harness/front/cli/measuring.hpp"

namespace allocbench::front {

struct ConfigShare {
  std::string name;
  std::uint64_t work = 0;  // estimated work in any unit
  std::string card = {};   // UUID of the card that measured the config's results, or empty
};

// Returns the configs for each of the GPUs with these UUIDs. A config that has results of one of these GPUs stays
// on this GPU. The other configs are spread to balance the estimated work.
std::vector<std::vector<std::string>> share_out(std::vector<ConfigShare> configs,
                                                const std::vector<std::string>& cards);

// Measures on all GPUs at once. Returns the largest exit code of the processes, or exit_interrupted after a signal to
// end. Passes a first signal on to the processes, so that each writes its results. `command` is the command to
// continue. It is printed if an exit code is not 0. Throws UsageError for the CPU back end.
int study_on_all_devices(const StudyOptions& study, const Target& target, const std::vector<ConfigShare>& configs,
                         const std::string& command);

}  // namespace allocbench::front
