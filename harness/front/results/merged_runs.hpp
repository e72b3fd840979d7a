// `allocbench merge`: the runs of several folders, made on several machines or at several times, as the logs of one.
#pragma once

#include <string>
#include <vector>

namespace allocbench::front {

struct MergedRun {
  std::string figure;              // its folder in the result
  std::vector<std::string> lines;  // of its log
};

struct MergedRuns {
  std::vector<MergedRun> runs;          // by figure
  std::vector<std::string> complaints;  // sentences: what could not be read or is missing
};

// Reads the logs in the folders and below them. A log that cannot be read costs only its own run. Throws UsageError if
// no log can be read, or if the runs do not belong together. They do not if they are of different partitions of a
// study, or if a shard or a cell was run twice. Several measured revisions or models of devices need permission to mix.
MergedRuns merge_runs(const std::vector<std::string>& folders, bool allow_mixed);

}  // namespace allocbench::front
