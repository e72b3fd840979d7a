// `worker --run` verifies and measures one cell from the command line, and prints the result in Google Benchmark's
// format. Use it for a quick test of one allocator. Studies use `allocbench`, which survives failures of a worker.
#pragma once

#include <cstdint>
#include <string>

#include "harness/worker/backend.hpp"
#include "harness/worker/command.hpp"
#include "harness/worker/registry.hpp"

namespace allocbench::worker {

// Returns the allocator of `cell`, a text in the format that run_by_hand() describes.
AllocatorRequest allocator_of(const std::string& cell, const Registry& registry);

// Verifies and measures a cell. `cell` is one JSON object that joins the protocol's commands: "allocator",
// "allocator_parameters", "pool_bytes", "workload", "parameters", and the settings of "open", such as "seed" and
// "state". "energy_s" has no effect. Returns the exit code, which is 1 if the cell did not end with `ok`.
int run_by_hand(const std::string& cell, std::uint32_t samples, const Registry& registry, Backend& backend,
                ProcessState& process);

}  // namespace allocbench::worker
