// These functions give a run the races that ThreadSanitizer reports. Only allocbench-worker-tsan, the race build, has
// such reports (races_tsan.cpp). The program that searches schedules links races_none.cpp, without effect.
#pragma once

#include <string>

namespace allocbench::check {

// Returns true in the race build.
bool races_are_seen();
// Returns the races reported since the last call, with the first race in the first line. Returns an empty text if there
// were none.
std::string take_races();

// While a NotWatched exists, the lane's accesses and allocations do not belong to the program under test and do not
// count.
class NotWatched {
 public:
  NotWatched();
  ~NotWatched();
  NotWatched(const NotWatched&) = delete;
  NotWatched& operator=(const NotWatched&) = delete;
};

}  // namespace allocbench::check
