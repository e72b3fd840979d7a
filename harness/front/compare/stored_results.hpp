// Reads what of results.json a comparison needs: for runs of which only that file was kept.
#pragma once

#include <string>

#include "harness/front/results/results.hpp"

namespace allocbench::front {

// With the cells, their phases and who measured them; and the config, without counters and metrics. Throws UsageError
// for what is not a results.json, is damaged or has a format that this program does not know.
Results read_stored_results(const std::string& path);

}  // namespace allocbench::front
