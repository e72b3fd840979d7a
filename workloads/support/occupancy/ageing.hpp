// Ageing turns a fresh heap into an old one before a workload is measured.
//
// Up to 1,024 threads allocate and free at random for a number of rounds, like a long-running program. In each round
// about half of the threads act on one of their slots: a thread fills the slot if it is empty, and empties it if it is
// full. The size of a request is one of the workload's sizes, or a half or a quarter of one. At the end all blocks are
// freed except every eighth, so that no design gets one large piece back. If a design frees in bulk, a thread frees all
// its blocks each time it empties a slot, and at the end. The calls do not depend on the results of earlier calls. If
// the allocator refuses a request, the slot stays empty.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "simt/simt.hpp"
#include "workloads/support/contract/workload.hpp"
#include "workloads/support/verification/script_kernel.hpp"

namespace allocbench {

class Ageing {
 public:
  // `requests` are the requests of the workload: its sizes, and the number of calling lanes per warp.
  Ageing(simt::Stream& stream, const RunSetting& setting, const RequestProfile& requests, std::uint64_t rounds);

  // Returns the reason why the heap of this allocator cannot age, or an empty text if it can.
  static std::string unsupported(const AllocatorType& type);

  // Ages a fresh heap.
  void age(const AllocatorHandle& allocator);
  // Frees the remaining blocks, for heaps that cannot be reset.
  void leave(const AllocatorHandle& allocator);

  // Returns the number of slots that age() leaves full. Slots whose request was refused count, too.
  std::uint64_t survivors() const { return survivors_; }

 private:
  struct Thread {
    std::uint32_t rank;       // rank of the thread in the grid
    std::uint64_t taken = 0;  // a bit per slot
  };

  void one_round(std::uint64_t round, ScriptCall* calls);
  void act(Thread& thread, std::uint32_t slot, std::uint32_t word, ScriptCall& call);
  std::uint64_t bytes_for(std::uint32_t word) const;
  // Frees the blocks in the slots that `survives` does not select.
  template <class Survives>
  void free_all(const AllocatorHandle& allocator, Survives&& survives);
  void launch(const AllocatorHandle& allocator, std::uint32_t rounds);

  simt::Stream& stream_;
  Traits traits_;
  Geometry geometry_;
  RequestSizes sizes_;
  std::uint32_t request_count_;
  std::uint32_t slots_per_thread_;
  std::uint64_t rounds_;
  std::uint64_t seed_;
  std::uint64_t survivors_ = 0;
  std::vector<Thread> threads_;    // threads that call
  std::vector<ScriptCall> calls_;  // calls of the rounds of a launch
  simt::Buffer<ScriptCall> device_calls_;
  simt::Buffer<void*> slots_;
  simt::Buffer<ScriptFindings> findings_;
};

}  // namespace allocbench
