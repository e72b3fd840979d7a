// `worker --run`: one cell typed on the command line, measured and printed as Google Benchmark prints it. For a quick
// look at one allocator; studies go through `allocbench`, which survives what this does not.
#pragma once

#include <cstdint>
#include <string>

#include "harness/worker/backend.hpp"
#include "harness/worker/command.hpp"
#include "harness/worker/registry.hpp"

namespace allocbench::worker {

// The allocator of a cell as the next function takes it.
AllocatorRequest allocator_of(const std::string& cell, const Registry& registry);

// `cell` is one JSON object that joins the protocol's commands: "allocator", "allocator_parameters", "pool_bytes",
// "workload", "parameters", "seed", "state", "l2", "warmups". Returns the exit code: 1 when the cell did not end `ok`.
int run_by_hand(const std::string& cell, std::uint32_t samples, const Registry& registry, Backend& backend,
                ProcessState& process);

}  // namespace allocbench::worker
