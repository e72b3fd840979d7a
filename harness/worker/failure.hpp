// This file converts exceptions of the work on a cell into a status word with a reason.
#pragma once

#include <optional>

#include "allocators/support/contract/traits.hpp"
#include "workloads/support/contract/outcome.hpp"

namespace allocbench::worker {

// Returns the failure of the current exception. Call it in a catch block. Returns nullopt if the exception is not a
// result of the cell; the caller then rethrows it. After a simt::MachineFault the worker reports it to the front end
// and ends. Other exceptions are bugs of this program: the worker dies, and the front end records `crashed` with the
// worker's last output.
std::optional<CellFailure> current_failure(const Traits& allocator);

}  // namespace allocbench::worker
