// Plan has the launches of replay: the calls of a trace, with kernels split if a free must wait for another thread.
// This is host code.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "traces/trace.hpp"

namespace allocbench::replay {

// A call in the form that the kernel reads.
struct Step {
  std::uint64_t bytes = 0;  // bytes of a malloc
  std::uint32_t block = 0;  // place of the pointer; no_block: a free of null
  std::uint32_t is_free = 0;

  bool operator==(const Step&) const = default;
};
inline constexpr std::uint32_t no_block = traces::no_block;

struct Launch {
  std::uint32_t kernel = 0;  // number of the kernel in the trace
  std::uint32_t blocks = 0;
  std::uint32_t threads_per_block = 0;
  std::size_t first = 0;  // entry of the first thread in Plan::begin

  bool operator==(const Launch&) const = default;
};

struct Plan {
  std::vector<Launch> launches;
  // Each launch has one entry more than it has threads. With f = Launch::first, the steps of thread t are begin[f + t]
  // to begin[f + t + 1] - 1.
  std::vector<std::uint32_t> begin;
  std::vector<Step> steps;
  std::vector<std::uint64_t> block_bytes;  // size of each block
  std::vector<std::uint32_t> left;         // blocks that the trace never frees
  std::uint64_t mallocs = 0;
  std::uint64_t frees = 0;
  std::uint64_t refused = 0;  // mallocs that are left out, because they returned null in the recording

  template <class Self, class Visit>
  static void for_each_part(Self& self, const Visit& visit) {
    visit(self.launches);
    visit(self.begin);
    visit(self.steps);
    visit(self.block_bytes);
    visit(self.left);
    visit(self.mallocs);
    visit(self.frees);
    visit(self.refused);
  }
};

// Returns the plan of a trace. No thread of a launch waits for another: if a thread frees a block that another thread
// allocates in the same kernel, the free begins a further launch. Throws traces::TraceError if frees wait for each
// other in a circle.
Plan make_plan(const traces::Trace& trace);

}  // namespace allocbench::replay
