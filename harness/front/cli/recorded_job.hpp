// The trace of a config's only job, for `allocbench try CONFIG`.
#pragma once

#include <string>

#include "harness/front/cli/measuring.hpp"

namespace allocbench::front {

// Runs the config's workload once under the allocator whose plug-in records applications. Returns the trace's folder,
// below `folder`; with --resume one that is there already. Throws UsageError for a config of several jobs, and
// EnvironmentError where the job leaves no trace: the text has the reason.
std::string record_job(const TryOptions& options, const Target& target, const std::string& folder);

// What would run, for --dry-run.
std::string describe_recording(const TryOptions& options, const Target& target);

}  // namespace allocbench::front
