// Reads the results of runs that files hold: from the log, or from results.json where the log does not have them.
#pragma once

#include <string>

#include "harness/front/results/results.hpp"

namespace allocbench::front {

// With the cells, the times of their phases and who measured them; and the config, without counters and metrics. Throws
// UsageError for what is not a results.json, is damaged or has a format that this program does not know.
Results read_stored_results(const std::string& path);

// Of an event log or a results.json. A log that was kept without samples tells only how cells failed: the numbers are
// in the results.json beside it. Throws UsageError where there is none, too.
Results read_run(const std::string& path);

}  // namespace allocbench::front
