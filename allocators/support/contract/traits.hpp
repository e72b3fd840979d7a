// Traits state the abilities of an allocator. Workloads read them to find out which cells the allocator does not
// support.
#pragma once

#include <cstdint>
#include <string_view>

namespace allocbench {

enum class Frees {
  never,         // free does nothing, and the leak check is skipped
  individually,  // any thread may free any block
  in_bulk        // all blocks of a session are freed at once
};

// PoolLocation is the place of the blocks.
enum class PoolLocation {
  arena,                  // blocks are in the pool of the arena, and pointers are checked against its bounds
  device_heap,            // blocks are in the back end's device heap, which has the size of the cell's pool
  arena_and_device_heap,  // blocks are in both; device_heap_bytes() divides the cell's pool bytes between them
  own  // blocks are in a library's own memory; own_pool() gives the bounds against which pointers are checked
};

// Fresh is the way in which the allocator is made new again.
enum class Fresh {
  by_reset,   // reset() makes it new
  by_process  // only a new process makes it new, and reset() is absent
};

enum class Backends { both, cuda_only, cpu_only };

// StepUnit defines a step of malloc. The number of steps grows when memory is scarce or threads contend.
enum class StepUnit {
  update,  // a read-modify-write of a shared word, lost compare-exchanges included
  probe,   // an attempt to find a free unit (simt::Step::attempt), such as a step of a random walk
  // a request that the allocator's only queue served, up to and including the caller's own (simt::Note::ticket)
  turn
};

// ZeroBytes is the result of malloc(0).
enum class ZeroBytes {
  unique,  // a separate block, which must be freed
  null
};

// Form is the kind of algorithm behind the name.
enum class Form {
  published,  // the paper's operations on shared words, order, data and defaults; the header lists the differences
  reworked,   // a form that this project has improved; the header lists how
  own,        // a design of the plug-in's author (the default)
  ablation,   // another form without one of its parts, for micro tests that measure the benefit of the part
  original,   // the authors' own code behind an adapter
  delayed     // another form that waits in every call, to measure the cost of a call in applications
};

struct Traits {
  std::string_view name;          // stable id, snake_case
  std::string_view display_name;  // name as papers write it
  std::string_view paper;         // "Authors year", with the section where that helps
  std::string_view summary;       // one sentence: the idea, and for variants what differs
  Form form = Form::own;
  std::string_view based_on = {};  // id of the form that an ablation or a delayed form changes
  Frees frees = Frees::individually;
  std::uint32_t alignment = 16;  // least alignment of every returned pointer in bytes
  PoolLocation pool = PoolLocation::arena;
  Fresh fresh = Fresh::by_reset;
  // The allocator keeps memory of the device heap after all frees, and only a new process returns it. Later users of
  // the heap would depend on earlier users. So each cell needs its own process (Fresh::by_process).
  bool keeps_device_heap = false;
  Backends backends = Backends::both;
  // Blocks may be handed out again although they were not freed (AWMalloc). Verification does not judge overlaps in
  // cells that request more bytes than the pool has.
  bool recycles_unfreed = false;
  // Every block takes the same space, whatever the request is (pages, slabs). A parameter may set this space.
  bool one_block_size = false;
  // All lanes of a warp must call together.
  bool whole_warp_calls = false;
  StepUnit step = StepUnit::update;
  // The plug-in is broken on purpose and tests the harness. Lists omit it unless requested.
  bool test_only = false;
  ZeroBytes zero = ZeroBytes::unique;
  // The plug-in has tracing forms of the applications' kernels. These forms are large, and the requests of an
  // application hardly depend on the allocator, so few plug-ins have them.
  bool records_applications = false;
};

}  // namespace allocbench
