// WorkloadType is a workload as the worker sees it. This header contains no device code.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "allocators/support/contract/parameters.hpp"
#include "workloads/support/contract/traits.hpp"

namespace simt {
class Stream;
}

namespace allocbench {

struct RunSetting;
class WorkloadRun;

struct WorkloadType {
  WorkloadTraits traits;
  std::vector<ParameterInfo> parameters;
  // Returns why the allocator of the setting cannot run the workload, or an empty text. Throws std::invalid_argument
  // for parameters that contradict each other.
  std::string (*unsupported)(const ParameterValues&, const RunSetting&) = nullptr;
  std::unique_ptr<WorkloadRun> (*open)(const ParameterValues&, const RunSetting&, simt::Stream&) = nullptr;
};

// Returns every workload of the suite, in the order of `allocbench list`.
std::vector<WorkloadType> all_workloads();

}  // namespace allocbench
