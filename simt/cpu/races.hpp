// Races between lanes, found by ThreadSanitizer: the API of the race build.
//
// A program that links simt_cpu_races instead of simt_cpu compiles its device code with -fsanitize=thread, while the
// executor stays uninstrumented and tells ThreadSanitizer which lane runs and what orders two lanes (lane_order.hpp).
// It reports two accesses to one word that no chain of launches, barriers and release/acquire pairs orders, if at least
// one is plain and one is a write. The order in the schedule does not matter. It needs the deterministic mode.
// simt/README.md says what orders lanes and what this does not show.
//
// Nothing is printed and no exit code changes; TSAN_OPTIONS overrides the options that are compiled in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace simt {

// One call on the stack of a racing access; inlined functions have frames of their own.
struct RaceFrame {
  std::string function;
  std::string file;  // as the compiler was given it; empty without debug information
  std::uint32_t line = 0;
};

struct RaceAccess {
  // "lane 3 of block 0, warp 0" or "host". If not all blocks are resident, the name is that of the lane that last ran
  // in that place.
  std::string thread;
  bool write = false;
  bool atomic = false;
  std::uintptr_t address = 0;
  std::uint32_t bytes = 0;
  // Innermost first, up to the kernel; empty when the access lies too far back for ThreadSanitizer's history.
  std::vector<RaceFrame> stack;

  // Where device code made the access, "stack.hpp:120": the innermost frame outside the vocabulary and the C++ library.
  std::string place() const;
};

struct Race {
  std::string kind;                  // ThreadSanitizer's word: "data-race", "heap-use-after-free" …
  std::vector<RaceAccess> accesses;  // the later one first
  // Reports with these two places. A lane that only repeats known reports is not watched any longer, so there may have
  // been more.
  std::uint64_t times = 0;

  // "data-race on 4 bytes at 0x7e9000000010: write at stack.hpp:120 (lane 3 …), earlier read at …" and both stacks.
  std::string text() const;
};

struct RaceReport {
  std::vector<Race> races;
  std::uint64_t reports = 0;   // of ThreadSanitizer, repetitions included
  std::uint64_t not_kept = 0;  // reports beyond the capacity of the list, 64 different races

  bool clean() const { return reports == 0; }
  std::string text() const;
};

// What was found since the last call; typically called after each launch. A fault of the launch loses nothing.
RaceReport take_race_reports();

}  // namespace simt
