// What the race build adds to a run. The build that searches schedules links races_none.cpp, allocbench-worker-tsan
// links races_tsan.cpp.
#pragma once

#include <string>

namespace allocbench::check {

// True in the race build.
bool races_are_seen();
// The races reported since the last call, the first in its first line; empty when there were none.
std::string take_races();

// What the lane does meanwhile does not belong to the program under test: its accesses and allocations do not count.
class NotWatched {
 public:
  NotWatched();
  ~NotWatched();
  NotWatched(const NotWatched&) = delete;
  NotWatched& operator=(const NotWatched&) = delete;
};

}  // namespace allocbench::check
