// The abilities of an allocator, stated once. Workloads read the traits to answer `unsupported` and never guess.
#pragma once

#include <cstdint>
#include <string_view>

namespace allocbench {

enum class Frees {
  never,         // free is a no-op; the leak check is waived
  individually,  // any thread may free any block
  in_bulk        // only all blocks of a session at once
};

// Where blocks live.
enum class PoolLocation {
  arena,                  // in the pool of the arena; pointers are checked against its bounds
  device_heap,            // in the device heap of the back end, which has the size of the cell's pool
  arena_and_device_heap,  // in both; device_heap_bytes() divides the cell's pool bytes between them
  own  // in a library's own memory; own_pool() gives its bounds, and pointers are checked against them
};

// How the allocator is made new again.
enum class Fresh {
  by_reset,   // reset() does it
  by_process  // only a new process does it; reset() is absent
};

enum class Backends { both, cuda_only, cpu_only };

// The definition of a step of malloc. The number of steps grows when memory is scarce or threads contend.
enum class StepUnit {
  update,  // a read-modify-write of a shared word, lost compare-exchanges included
  probe,   // a try to find a free unit (simt::Step::attempt): the steps of a random walk
  // a request that the allocator's only queue served, up to and including the caller's own (simt::Note::ticket)
  turn
};

// What malloc(0) returns.
enum class ZeroBytes {
  unique,  // a separate block, which must be freed
  null
};

// The algorithm behind the name.
enum class Form {
  published,  // the paper's operations on shared words, in its order, with its data and defaults; the header lists gaps
  reworked,   // improved by this project; the header lists how
  own,        // a design of the plug-in's author (the default)
  ablation,   // another form without one of its parts, for micro tests that measure the benefit of the part
  original,   // the authors' own code behind an adapter
  delayed     // another form that waits in every call, to measure the cost of a call in applications
};

struct Traits {
  std::string_view name;          // stable id, snake_case
  std::string_view display_name;  // as papers write it
  std::string_view paper;         // "Authors year", with the section where that helps
  std::string_view summary;       // one sentence: the idea, and for variants what differs
  Form form = Form::own;
  std::string_view based_on = {};  // of an ablation or a delayed form: the id of the form that it changes
  Frees frees = Frees::individually;
  std::uint32_t alignment = 16;  // bytes every returned pointer is a multiple of
  PoolLocation pool = PoolLocation::arena;
  Fresh fresh = Fresh::by_reset;
  // The allocator keeps memory of the device heap after all frees, and reset() does not return it. Later users of the
  // heap would depend on earlier users, so each cell gets its own process.
  bool keeps_device_heap = false;
  Backends backends = Backends::both;
  // Blocks may be handed out again although they were not freed (AWMalloc). Verification ends when that happens.
  bool recycles_unfreed = false;
  // Every block takes the same space, whatever the request is (pages, slabs). A config sets the size before the first
  // malloc.
  bool one_block_size = false;
  // All lanes of a warp must call together.
  bool whole_warp_calls = false;
  StepUnit step = StepUnit::update;
  // A deliberately broken plug-in that tests the harness. Lists omit it unless requested.
  bool test_only = false;
  ZeroBytes zero = ZeroBytes::unique;
  // The plug-in has tracing forms of the applications' kernels. They are large, and the requests of an application
  // hardly depend on the allocator, so few plug-ins have them.
  bool records_applications = false;
};

}  // namespace allocbench
