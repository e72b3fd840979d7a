// A ContentReport in words.
#pragma once

#include <string>

#include "allocators/support/adaptors/content_report.hpp"

namespace allocbench {

// Counts by kind and the first offender. Empty if the report has no mistakes. Throws std::logic_error if the ledger
// overflowed: the workload announced too few mallocs, so there is no verdict.
std::string content_problem(const ContentReport& report, std::uint64_t pool_begin);

}  // namespace allocbench
