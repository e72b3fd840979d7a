// This file records the trace of a config's only job, for `allocbench try CONFIG`.
#pragma once

#include <string>

#include "harness/front/cli/measuring.hpp"

namespace allocbench::front {

// Runs the workload of the config once, with the allocator whose plug-in records applications. Returns the folder of
// the trace, which is below `folder`. With --resume, uses an existing trace. Throws UsageError if the config has no job
// or several jobs, EnvironmentError with the reason if the job leaves no trace, and Interrupted after Ctrl-C.
std::string record_job(const TryOptions& options, const Target& target, const std::string& folder);

// Returns the plan of the recording as text, for --dry-run.
std::string describe_recording(const TryOptions& options, const Target& target);

}  // namespace allocbench::front
