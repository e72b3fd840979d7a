// This file declares all metrics of results once. Readers, tables and plots get unit and direction from here.
#pragma once

#include <vector>

#include "protocol/description.hpp"

namespace allocbench::worker {

const std::vector<protocol::MetricDescription>& metrics();

}  // namespace allocbench::worker
