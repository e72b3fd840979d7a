// WallTime divides the wall time of a run into parts, such as process starts and verification, for --profile.
#pragma once

#include <map>
#include <string>

#include "protocol/event.hpp"

namespace allocbench::front {

class WallTime {
 public:
  // Adds time that the front end measures, such as that of "process starts" or "deadlines".
  void add(const std::string& part, double seconds) { seconds_[part] += seconds; }
  // Adds a worker's report about the time since it became ready and about its start, which took `start_seconds` of the
  // run. Returns the seconds that these parts explain.
  double add(const protocol::Profile& profile, double start_seconds);

  // Returns a table with the largest part first. Time that no part explains belongs to the front end. The lines below
  // the table show time that passed in parallel and did not extend the run.
  std::string text(double total_seconds) const;

 private:
  std::map<std::string, double> seconds_;
  double beside_ = 0;
};

}  // namespace allocbench::front
