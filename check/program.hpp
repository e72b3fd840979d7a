// This kernel runs a model on an allocator. It is one interpreter for all models, compiled once per allocator.
//
// It runs only on the CPU executor, because it calls the oracle, which is host code, from inside the lanes.
#pragma once

#include "allocators/support/contract/allocator.hpp"
#include "allocators/support/contract/session.hpp"
#include "check/model.hpp"
#include "check/races.hpp"
#include "check/shadow_heap.hpp"
#include "check/user_pattern.hpp"
#include "simt/simt.hpp"

namespace allocbench::check {

// Program is a model prepared for one launch. It is passed to the kernel by value.
struct Program {
  const Step* steps = nullptr;
  std::uint32_t step_count = 0;
  std::uint32_t rounds = 1;
  std::uint32_t lanes = 1;
  std::uint32_t first_rank = 0;  // rank of this kernel's first lane among the lanes of all kernels
  const std::size_t* sizes = nullptr;
  std::uint32_t size_count = 1;
  std::uint64_t* mailboxes = nullptr;  // [slot][lane]: address of a block, or 0 if the mailbox is empty
  std::uint32_t slots = 1;
  ShadowHeap* oracle = nullptr;
  bool null_is_failure = false;
  std::size_t last_null = 0;  // number of counted null pointers at which a lone lane stops; 0 for never
  // False if the allocator reuses blocks that were not freed. Callers then do not write into blocks.
  bool owns_blocks = true;
};

template <class A>
struct RunProgram {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, A allocator, Program program) const {
    auto&& session = attach(allocator, thread);
    const std::uint32_t rank = rank_of(thread, program);
    for (std::uint32_t round = 0; round < program.rounds; ++round) {
      for (std::uint32_t i = 0; i < program.step_count && !ended(program); ++i) {
        const Step& step = program.steps[i];
        if (!step.lanes.contains(rank)) continue;
        if (step.action == Action::malloc) {
          const std::uint32_t shift = step.spread ? round + rank : 0;
          request(thread, session, program, step.slot, program.sizes[(step.size + shift) % program.size_count]);
        } else if (step.action == Action::free) {
          give_back(thread, session, program, step.slot, (rank + step.from) % program.lanes);
        } else if (step.action == Action::free_null) {
          if constexpr (A::traits.frees != Frees::in_bulk) session.free(thread, nullptr);
        } else {
          thread.block_barrier();
        }
      }
    }
    if constexpr (A::traits.frees == Frees::in_bulk) release(thread, session, program);
    detach(session, thread);
  }

 private:
  // Returns the rank of the lane among the lanes of all kernels.
  template <class Thread>
  static std::uint32_t rank_of(const Thread& thread, const Program& program) {
    return program.first_rank + thread.rank_in_grid();
  }

  template <class Thread>
  static auto mailbox(Thread& thread, const Program& program, std::uint32_t slot, std::uint32_t lane) {
    return thread.atomic(program.mailboxes[std::size_t{slot} * program.lanes + lane]);
  }

  static bool ended(const Program& program) {
    return program.last_null != 0 && program.oracle->refusals() >= program.last_null;
  }

  template <class Thread>
  [[noreturn]] static void fail(Thread& thread, const Program& program) {
    thread.executor_lane().fail(simt::FaultKind::failed_check, program.oracle->verdict().c_str(),
                                simt::CallSite::here());
  }

  template <class Thread, class Session>
  static void request(Thread& thread, Session& session, const Program& program, std::uint32_t slot, std::size_t bytes) {
    const std::uint32_t rank = rank_of(thread, program);
    // Only this lane fills the mailbox, so an empty one stays empty until the store below.
    if (mailbox(thread, program, slot, rank).load(simt::relaxed) != 0) return;
    auto* block = static_cast<std::byte*>(session.malloc(thread, bytes));
    if (block == nullptr) {
      if (!refuse(program, bytes, rank)) fail(thread, program);
      return;
    }
    if (!adopt(program, block, bytes, rank)) fail(thread, program);
    // The owner's accesses are plain, so held stores of the allocator to this memory must take effect before them.
    thread.executor_lane().show_stores(block, bytes);
    if (program.owns_blocks) UserPattern(program.oracle->serial_of(block)).write(block, bytes);
    mailbox(thread, program, slot, rank).store(reinterpret_cast<std::uint64_t>(block), simt::release);
  }

  template <class Thread, class Session>
  static void give_back(Thread& thread, Session& session, const Program& program, std::uint32_t slot,
                        std::uint32_t lane) {
    if constexpr (A::traits.frees == Frees::in_bulk) return;
    auto* block = reinterpret_cast<std::byte*>(mailbox(thread, program, slot, lane).exchange(0, simt::acquire));
    if (block == nullptr) return;
    part(thread, program, block);
    session.free(thread, block);
  }

  // adopt(), retire() and refuse() call the oracle. They return false if it finds a mistake. The race build does not
  // watch the oracle's own memory.
  static bool adopt(const Program& program, const std::byte* block, std::size_t bytes, std::uint32_t rank) {
    const NotWatched scope;
    return program.oracle->adopt(block, bytes, rank);
  }
  static bool retire(const Program& program, const std::byte* block, std::uint32_t rank) {
    const NotWatched scope;
    return program.oracle->retire(block, rank);
  }
  static bool refuse(const Program& program, std::size_t bytes, std::uint32_t rank) {
    const NotWatched scope;
    program.oracle->refused(bytes, rank);
    if (program.null_is_failure) {
      program.oracle->complain("null pointer although the heap has room for all requests of this model");
    }
    return !program.null_is_failure;
  }

  static void damaged(const Program& program, const std::byte* block, std::size_t offset, std::byte expected,
                      std::uint32_t rank) {
    const NotWatched scope;
    program.oracle->damaged(block, offset, std::to_integer<unsigned>(expected),
                            std::to_integer<unsigned>(block[offset]), rank);
  }

  // Ends the use of a block before its free: checks its contents if `owns_blocks` is set, and removes it from the
  // oracle. A mistake ends the run.
  template <class Thread>
  static void part(Thread& thread, const Program& program, std::byte* block) {
    const std::uint32_t rank = rank_of(thread, program);
    const std::size_t bytes = program.oracle->bytes_of(block);
    if (program.owns_blocks) {
      const UserPattern pattern(program.oracle->serial_of(block));
      const std::size_t damage = pattern.first_damage(block, bytes);
      if (damage != bytes) {
        damaged(program, block, damage, pattern.at(damage), rank);
        fail(thread, program);
      }
    }
    if (!retire(program, block, rank)) fail(thread, program);
  }

  // Ends a session of a bulk design, and so frees all blocks of the session at once. Lanes of a warp may share the
  // session, so every lane of the warp first ends the use of its own blocks.
  template <class Thread, class Session>
  static void release(Thread& thread, Session& session, const Program& program) {
    for (std::uint32_t slot = 0; slot < program.slots; ++slot) {
      const auto mine = mailbox(thread, program, slot, rank_of(thread, program)).exchange(0, simt::acquire);
      if (mine != 0) part(thread, program, reinterpret_cast<std::byte*>(mine));
    }
    thread.warp().sync();
    release_all(session, thread);
  }
};

}  // namespace allocbench::check
