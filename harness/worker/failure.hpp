// Every exception that work on a cell may throw, as a status word with a reason.
#pragma once

#include <optional>

#include "allocators/contract/traits.hpp"
#include "workloads/contract/outcome.hpp"

namespace allocbench::worker {

// Call it in a catch block. nullopt for an exception that is a bug of this program: the caller
// rethrows it, the worker dies, and the front end records `crashed` with its last words.
std::optional<CellFailure> current_failure(const Traits& allocator);

}  // namespace allocbench::worker
