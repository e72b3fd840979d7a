// ProcessState is data that the instances of a worker process share.
#pragma once

#include "harness/worker/time_shares.hpp"
#include "workloads/support/verification/findings.hpp"

namespace allocbench::worker {

struct ProcessState {
  TimeShares shares;
  LeakFindings leak_findings;
  ResetFindings reset_findings;
};

}  // namespace allocbench::worker
