// `allocbench merge` joins the runs in several folders into one log per config.
#pragma once

#include <string>
#include <vector>

namespace allocbench::front {

struct MergedRun {
  std::string figure;              // name of the config, which is also its folder in the result
  std::vector<std::string> lines;  // lines of the log
};

struct MergedRuns {
  std::vector<MergedRun> runs;          // runs by figure
  std::vector<std::string> complaints;  // sentences about logs that cannot be read and runs that are missing
};

// Reads the logs in and below the folders. If a log cannot be read, only its run is missing. Throws UsageError if no
// log can be read, or if the runs come from different partitions of a study. Also throws it if a shard or a cell was
// run twice, or if two runs of a config have different plans or back ends. Runs of different measured revisions or
// device models need `allow_mixed`.
MergedRuns merge_runs(const std::vector<std::string>& folders, bool allow_mixed);

}  // namespace allocbench::front
