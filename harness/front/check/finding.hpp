// A finding is a failed run of `allocbench check`: one allocator that runs one model (a small test program) under one
// schedule. This file stores findings and replays them by seed strings.
#pragma once

#include <cstdint>
#include <string>

#include "protocol/checker_event.hpp"
#include "protocol/model.hpp"

namespace allocbench::front {

struct Finding {
  std::string allocator;
  protocol::Model model;  // the whole model, so that a stored finding needs no other file
  std::string strategy;
  std::uint64_t seed = 0;
  bool races = false;    // whether the race build found it; then the race build also replays it
  std::string outcome;   // "failed check", "race", "crash", "hang" …
  std::string summary;   // result in one line
  std::string report;    // all known details
  std::string schedule;  // decisions as text; empty for races, crashes, hangs, and if it is too long

  // Stores how the run ended.
  void take(const protocol::CheckedRun& run);
  // Returns a text such as "v1:cm_malloc:ring:swarm:417", with ":race" at the end if `races`. It is enough to replay a
  // run of a built-in model.
  std::string seed_string() const;
  // Returns false for an exhaustive search. Only its schedule, which write_finding() stores, can repeat the run.
  bool has_seed() const { return !strategy.starts_with("dfs"); }
  std::string file_name() const;  // file name without folder and suffix
};

// The parts of a seed string. parse_seed_string() throws UsageError for a malformed text.
struct SeedString {
  std::string allocator;
  std::string model;
  std::string strategy;
  std::uint64_t seed = 0;
  bool races = false;
};
SeedString parse_seed_string(const std::string& text);

// Reads a finding. Throws UsageError with the name of the file if the file is not a readable finding.
Finding read_finding(const std::string& path);
// Writes <folder>/<file name>.json and .txt. Throws EnvironmentError if this fails.
void write_finding(const Finding& finding, const std::string& folder);

}  // namespace allocbench::front
