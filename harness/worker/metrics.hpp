// Every metric that results can hold, declared once: readers, tables and plots take unit and direction from here.
#pragma once

#include <vector>

#include "protocol/description.hpp"

namespace allocbench::worker {

const std::vector<protocol::MetricDescription>& metrics();

}  // namespace allocbench::worker
