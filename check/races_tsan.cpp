#include "check/races.hpp"
#include "simt/cpu/races.hpp"

// These functions are part of ThreadSanitizer's run-time library, although its header does not declare them.
extern "C" {
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
void AnnotateIgnoreWritesBegin(const char* file, int line);
void AnnotateIgnoreWritesEnd(const char* file, int line);
}

namespace allocbench::check {

bool races_are_seen() { return true; }

std::string take_races() {
  const simt::RaceReport report = simt::take_race_reports();
  return report.clean() ? std::string() : report.text();
}

NotWatched::NotWatched() {
  AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
  AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
}
NotWatched::~NotWatched() {
  AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
  AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
}

}  // namespace allocbench::check
