// What an allocator can do, stated once. Workloads ask the traits and answer `unsupported`; they never guess.
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
  arena,                  // in the pool the arena hands out: pointers are checked against its bounds
  device_heap,            // in the back end's device heap, whose bytes are then the cell's pool bytes
  arena_and_device_heap,  // in both, which share the cell's pool bytes as device_heap_bytes() says
  own  // in memory that a library takes for itself: own_pool() tells where, and pointers are checked against that
};

// How the allocator becomes as good as new.
enum class Fresh {
  by_reset,   // reset() does it
  by_process  // only a new process does it; reset() is absent
};

enum class Backends { both, cuda_only, cpu_only };

// What counts as a step of malloc. Steps grow when memory gets scarce or when threads contend.
enum class StepUnit {
  update,  // a read-modify-write of a shared word, lost compare-exchanges included
  probe,   // a try to find a free unit (simt::Step::attempt): the steps of a random walk
  turn     // a request served by the allocator's only queue, up to and including the own one (simt::Note::ticket)
};

// What malloc(0) returns.
enum class ZeroBytes {
  unique,  // a block of its own, which must be freed
  null
};

// Which algorithm runs under the name.
enum class Form {
  published,  // the paper's operations on shared words, in its order, with its data and defaults; the header lists gaps
  reworked,   // improved by this project; the header lists how
  own,        // a design of its author's, as is every plug-in that says nothing else
  ablation,   // another form without one of its parts, for micro tests that show what the part is worth
  original,   // the authors' own code behind an adapter
  delayed     // another form that waits in every call, for applications that show what a call is worth
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
  // The allocator keeps memory of the device heap after all frees, and no reset() returns it. Later users of the heap
  // would depend on earlier ones, so each cell gets a process.
  bool keeps_device_heap = false;
  Backends backends = Backends::both;
  // Blocks may be handed out again although they were not freed (AWMalloc). Verification ends when that happens.
  bool recycles_unfreed = false;
  // Every block takes the same room whatever the request is (pages, slabs): a config fixes the size before the first
  // malloc.
  bool one_block_size = false;
  // All lanes of a warp must call together.
  bool whole_warp_calls = false;
  StepUnit step = StepUnit::update;
  // A deliberately broken plug-in that tests the harness; left out of lists unless asked for.
  bool test_only = false;
  ZeroBytes zero = ZeroBytes::unique;
  // Its plug-in has forms of the applications' kernels that leave traces. They are large, and what an application asks
  // for hardly depends on its allocator.
  bool records_applications = false;
};

}  // namespace allocbench
