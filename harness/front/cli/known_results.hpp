// This file predicts from earlier results (--known) how long each cell takes and which cells will probably fail.
#pragma once

#include <string>
#include <vector>

#include "harness/front/cli/measuring.hpp"
#include "harness/front/run/forecast.hpp"

namespace allocbench::front {

// The folder of kept results, with one folder per model of card and one for the CPU. Like the default of --configs, it
// is relative to the current folder.
inline constexpr const char* references_folder = "results/reference";

// Reads the folder of --known. Without --known, reads the kept results of this device for these configs, or those of
// another GPU if this GPU has none. Returns nothing with --no-known. Throws UsageError if the folder of --known has no
// readable results. Unreadable kept results only cause a warning.
EarlierResults earlier_results(const RunOptions& options, const Target& target,
                               const std::vector<std::string>& figures);

// Returns the folder below `references` whose name is a word of the device's name: h200 for "NVIDIA H200", cpu for the
// CPU back end. Returns an empty text if there is none.
std::string reference_of(const std::string& references, const std::string& backend, const std::string& device);

}  // namespace allocbench::front
