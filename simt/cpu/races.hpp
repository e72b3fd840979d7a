// This API of the race build reports the races between lanes that ThreadSanitizer finds.
//
// A program of the race build links simt_cpu_races instead of simt_cpu and compiles its device code with
// -fsanitize=thread. The executor stays uninstrumented and informs ThreadSanitizer which lane runs and what orders two
// lanes (lane_order.hpp). ThreadSanitizer reports two accesses to one word if at least one is plain, at least one is a
// write, and no chain of launches, barriers and release/acquire pairs orders them. Their order in the schedule does not
// matter. The race build needs the deterministic mode. simt/README.md describes what orders lanes and which races are
// not found.
//
// The race build prints nothing and changes no exit code. TSAN_OPTIONS overrides the options that are compiled in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace simt {

// RaceFrame is one call on the stack of a racing access. Inlined functions have separate frames.
struct RaceFrame {
  std::string function;
  std::string file;  // name that the compiler got; empty without debug information
  std::uint32_t line = 0;
};

struct RaceAccess {
  // Name such as "lane 3 of block 0, warp 0" or "host". If several lanes ran on the same stack, the name is that of the
  // last one.
  std::string thread;
  bool write = false;
  bool atomic = false;
  std::uintptr_t address = 0;
  std::uint32_t bytes = 0;
  // Call stack of the access up to the kernel, the innermost call first. It is empty if the access is too old for
  // ThreadSanitizer's history.
  std::vector<RaceFrame> stack;

  // Returns the place of the access in device code, such as "stack.hpp:120". The place is the innermost frame outside
  // Thread, Group, atomic_ref and the C++ library.
  std::string place() const;
};

struct Race {
  std::string kind;                  // ThreadSanitizer's word, such as "data-race" or "heap-use-after-free"
  std::vector<RaceAccess> accesses;  // accesses, the later one first
  // Number of reports with these two places. There may be more races, because a lane that only repeats known reports is
  // no longer watched.
  std::uint64_t times = 0;

  // Returns a text such as "data-race on 4 bytes at 0x7e9000000010: write at stack.hpp:120 (lane 3 …), earlier read at
  // …", with both stacks.
  std::string text() const;
};

struct RaceReport {
  std::vector<Race> races;
  std::uint64_t reports = 0;   // number of ThreadSanitizer's reports, with repetitions
  std::uint64_t not_kept = 0;  // number of reports after the list was full (64 different races)

  bool clean() const { return reports == 0; }
  std::string text() const;
};

// Returns the races found since the last call. A program typically calls this function after each launch. Reports
// survive a fault of the launch.
RaceReport take_race_reports();

}  // namespace simt
