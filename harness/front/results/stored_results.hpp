// This file reads stored results of runs, from the log, or from results.json if the log does not have them.
#pragma once

#include <string>

#include "harness/front/results/results.hpp"

namespace allocbench::front {

// Reads the cells, the times of their phases, their origins and the config, without counters and metrics. Throws
// UsageError if the file is not a results.json, is damaged or has an unknown format.
Results read_stored_results(const std::string& path);

// Reads an event log or a results.json. A log that was kept without samples only has the failures of cells. Then the
// numbers are in the results.json in the same folder. Throws UsageError if that file is missing.
Results read_run(const std::string& path);

}  // namespace allocbench::front
