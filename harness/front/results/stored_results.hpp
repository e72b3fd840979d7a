// Reads the results of runs that files hold: from the log, or from results.json where the log does not have them.
#pragma once

#include <string>

#include "harness/front/results/results.hpp"

namespace allocbench::front {

// With the cells, the times of their phases and who measured them; and the config, without counters and metrics. Throws
// UsageError for what is not a results.json, is damaged or has a format that this program does not know.
Results read_stored_results(const std::string& path);

// Reads an event log or a results.json. A log that was kept without samples says only how cells failed; the
// results.json beside it has the numbers. Throws UsageError if that is missing, too.
Results read_run(const std::string& path);

}  // namespace allocbench::front
