// This file declares all metrics of results once. Readers, tables and plots take the unit, and whether lower or higher
// is better, from here.
#pragma once

#include <vector>

#include "protocol/description.hpp"

namespace allocbench::worker {

const std::vector<protocol::MetricDescription>& metrics();

}  // namespace allocbench::worker
