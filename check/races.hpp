// These functions return the races that ThreadSanitizer reports for a run. Only allocbench-worker-tsan, the race build,
// has such reports (races_tsan.cpp). allocbench-worker-check links races_none.cpp, whose functions report no races.
#pragma once

#include <string>

namespace allocbench::check {

// Returns true in the race build.
bool races_are_seen();
// Returns the races reported since the last call, with the first race in the first line. Returns an empty text if there
// were none.
std::string take_races();

// While a NotWatched exists, ThreadSanitizer ignores the lane's accesses, because they do not belong to the program
// under test.
class NotWatched {
 public:
  NotWatched();
  ~NotWatched();
  NotWatched(const NotWatched&) = delete;
  NotWatched& operator=(const NotWatched&) = delete;
};

}  // namespace allocbench::check
