// This file puts a ContentReport into words.
#pragma once

#include <string>

#include "allocators/support/adaptors/content_report.hpp"

namespace allocbench {

// Returns the counts by kind and the first mistake, or an empty text if there is none. Throws std::logic_error if the
// ledger overflowed. Then the workload announced too few mallocs, so there is no verdict.
std::string content_problem(const ContentReport& report, std::uint64_t pool_begin);

}  // namespace allocbench
