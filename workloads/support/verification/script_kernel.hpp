// A script is a list of calls for each thread, written by host code. The contract suite (tests/contract) and Ageing use
// scripts, because they have only the type-erased handle of an allocator.
//
// All threads of the grid execute the same number of rounds. The lanes of a warp start a round together. So lanes with
// calls in a round call at the same time, and lanes with `nothing` wait.
#pragma once

#include "allocators/support/contract/session.hpp"
#include "simt/simt.hpp"
#include "workloads/support/contract/kernel_list.hpp"

namespace allocbench {

enum class ScriptVerb : std::uint32_t { nothing, malloc, free, free_null, release };

struct ScriptCall {
  ScriptVerb verb = ScriptVerb::nothing;
  std::uint32_t count = 0;  // number of blocks and slots of a malloc or free; malloc stops at the first null
  std::uint64_t slot = 0;   // first slot
  std::uint64_t bytes = 0;  // bytes of each block
};

struct ScriptFindings {
  std::uint32_t overwritten;  // blocks whose contents were wrong when their owner freed them
  std::uint32_t first_slot;   // lowest slot of these blocks
};

// The argument of the kernel, passed by value.
struct Script {
  const ScriptCall* calls = nullptr;  // one row per round, with a call for each thread of the grid
  std::uint32_t rounds = 0;
  void** slots = nullptr;
  ScriptFindings* findings = nullptr;
  // Blocks outside of this range, or with more than `most_bytes`, are not touched.
  std::uint64_t memory_begin = 0;
  std::uint64_t memory_end = 0;
  std::uint64_t most_bytes = 0;
  bool touch = true;  // whether blocks are filled, and compared before they are freed

  SIMT_FN bool touchable(const void* block, std::uint64_t bytes) const {
    const auto address = reinterpret_cast<std::uint64_t>(block);
    return touch && bytes <= most_bytes && address >= memory_begin && address <= memory_end &&
           memory_end - address >= bytes;
  }
  static SIMT_FN unsigned char byte_of(std::uint64_t slot, std::uint64_t offset) {
    return static_cast<unsigned char>((slot * 0x9e3779b97f4a7c15u >> 32) + offset * 31);
  }
  // Length of the checked parts at the beginning and the end of a block. A block of up to twice this length is checked
  // completely.
  static constexpr std::uint64_t edge_bytes = 64;
  SIMT_FN void fill(void* block, std::uint64_t bytes, std::uint64_t slot) const {
    auto* const memory = static_cast<unsigned char*>(block);
    for (std::uint64_t i = 0; i < bytes; i = next(i, bytes)) memory[i] = byte_of(slot, i);
  }
  SIMT_FN bool intact(const void* block, std::uint64_t bytes, std::uint64_t slot) const {
    const auto* const memory = static_cast<const unsigned char*>(block);
    for (std::uint64_t i = 0; i < bytes; i = next(i, bytes)) {
      if (memory[i] != byte_of(slot, i)) return false;
    }
    return true;
  }

 private:
  static SIMT_FN std::uint64_t next(std::uint64_t i, std::uint64_t bytes) {
    return i + 1 == edge_bytes && bytes > 2 * edge_bytes ? bytes - edge_bytes : i + 1;
  }
};

struct ScriptKernel {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, Script script) const {
    auto&& session = attach(allocator, thread);
    SIMT_ROLLED
    for (std::uint32_t round = 0; round < script.rounds; ++round) {
      thread.warp().sync();
      const ScriptCall call = script.calls[std::uint64_t{round} * thread.grid_size() + thread.rank_in_grid()];
      if (call.verb == ScriptVerb::malloc) {
        allocate(thread, session, script, call);
      } else if (call.verb == ScriptVerb::free || call.verb == ScriptVerb::free_null) {
        give_back(thread, session, script, call);
      } else if (call.verb == ScriptVerb::release) {
        release_all(session, thread);
      }
    }
    detach(session, thread);
  }

 private:
  template <class Thread, class Session>
  static SIMT_FN void allocate(Thread& thread, Session& session, const Script& script, const ScriptCall& call) {
    SIMT_ROLLED
    for (std::uint64_t i = call.slot; i < call.slot + call.count; ++i) {
      void* const block = session.malloc(thread, call.bytes);
      script.slots[i] = block;
      if (block == nullptr) return;
      if (script.touchable(block, call.bytes)) script.fill(block, call.bytes, i);
    }
  }
  template <class Thread, class Session>
  static SIMT_FN void give_back(Thread& thread, Session& session, const Script& script, const ScriptCall& call) {
    const bool null = call.verb == ScriptVerb::free_null;
    const std::uint64_t end = call.slot + (null ? 1 : call.count);
    SIMT_ROLLED
    for (std::uint64_t i = call.slot; i < end; ++i) {
      void* const block = null ? nullptr : script.slots[i];
      if (!null && block == nullptr) continue;  // malloc returned null
      if (!null && script.touchable(block, call.bytes) && !script.intact(block, call.bytes, i)) {
        thread.atomic(script.findings->overwritten).fetch_add(1u, simt::relaxed);
        thread.atomic(script.findings->first_slot).fetch_min(static_cast<std::uint32_t>(i), simt::relaxed);
      }
      session.free(thread, block);
    }
  }
};

using ScriptKernels = KernelList<UntimedKernelOn<ScriptKernel, Script>>;

}  // namespace allocbench
