// Where the wall time of a run went, for --profile.
#pragma once

#include <map>
#include <string>

#include "protocol/event.hpp"

namespace allocbench::front {

class WallTime {
 public:
  // Adds time of the front end: "process starts", "deadlines".
  void add(const std::string& part, double seconds) { seconds_[part] += seconds; }
  // What a worker says at its end about the time since it became ready, and about its own start, which took
  // `start_seconds` of the run. Returns the seconds that these parts explain.
  double add(const protocol::Profile& profile, double start_seconds);

  // A table, the largest part first; what no part explains is the front end's own. Below it what passed beside these
  // parts and took no time of the run.
  std::string text(double total_seconds) const;

 private:
  std::map<std::string, double> seconds_;
  double beside_ = 0;
};

}  // namespace allocbench::front
