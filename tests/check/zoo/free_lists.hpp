// These specimens of the bug zoo (specimen.hpp) keep free slots in a linked list.
#pragma once

#include "tests/check/zoo/specimen.hpp"

namespace allocbench::zoo {

// LinkSlots builds the list 0 -> 1 -> ... -> end in links[].
struct LinkSlots {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, std::uint32_t* links, std::uint32_t slots) const {
    for (std::uint32_t i = thread.rank_in_grid(); i < slots; i += thread.grid_size()) links[i] = i + 1;
  }
};

// AbaStack is a lock-free stack of slots. The head names a slot. In the repaired form, it also counts the changes.
// Without the count, a pop may succeed although its slot was popped and pushed again meanwhile, with another successor.
template <Form form>
class AbaStack : public Specimen {
 public:
  static constexpr Traits traits = specimen(form, "zoo_aba", "zoo_aba_repaired", "ABA on the head of a free list");

  static AbaStack create(Arena& arena, const Parameters&) {
    AbaStack allocator;
    allocator.pool_ = SlotPool(arena);
    allocator.head_ = arena.metadata<std::uint64_t>(1);
    allocator.links_ = arena.metadata<std::uint32_t>(allocator.pool_.slots());
    allocator.reset(arena.stream());
    return allocator;
  }
  void reset(simt::Stream& stream) {
    simt::device_fill(stream, head_, 0, sizeof *head_);
    simt::launch(stream, {1, 32}, LinkSlots{}, links_, pool_.slots());
  }

  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t) {
    const auto head = thread.atomic(*head_);
    std::uint64_t seen = head.load(simt::acquire);
    for (;;) {
      const auto slot = static_cast<std::uint32_t>(seen);
      if (slot == pool_.slots()) return nullptr;
      const std::uint32_t next = thread.atomic(links_[slot]).load(simt::relaxed);
      if (head.compare_exchange(seen, changed(seen, next), simt::acquire, simt::acquire)) return pool_.block(slot);
    }
  }
  template <class Thread>
  SIMT_FN void free(Thread& thread, void* block) {
    if (block == nullptr) return;
    const std::uint32_t slot = pool_.slot_of(block);
    const auto head = thread.atomic(*head_);
    std::uint64_t seen = head.load(simt::relaxed);
    do {
      thread.atomic(links_[slot]).store(static_cast<std::uint32_t>(seen), simt::relaxed);
    } while (!head.compare_exchange(seen, changed(seen, slot), simt::release, simt::relaxed));
  }

 private:
  static SIMT_FN std::uint64_t changed(std::uint64_t seen, std::uint32_t slot) {
    const std::uint64_t count = form == Form::repaired ? (seen >> 32) + 1 : 0;
    return count << 32 | slot;
  }

  SlotPool pool_;
  std::uint64_t* head_ = nullptr;
  std::uint32_t* links_ = nullptr;
};

enum class LockBug { none, early_unlock, missing_acquire, missing_release, forgotten_unlock };

// LockedList is a list of slots under a spin lock. Head and links are plain words that only the holder of the lock
// uses.
template <LockBug bug>
class LockedList : public Specimen {
 public:
  static constexpr Traits traits = [] {
    switch (bug) {
      case LockBug::early_unlock:
        return specimen(Form::broken, "zoo_early_unlock", "", "the lock is released before the head is written");
      case LockBug::missing_acquire:
        return specimen(Form::broken, "zoo_missing_acquire", "", "the lock is taken with a relaxed exchange");
      case LockBug::missing_release:
        return specimen(Form::broken, "zoo_missing_release", "", "the lock is given back with a relaxed store");
      case LockBug::forgotten_unlock:
        return specimen(Form::broken, "zoo_forgotten_unlock", "", "an empty list is left locked");
      case LockBug::none:
        break;
    }
    return specimen(Form::repaired, "", "zoo_locked_list_repaired", "a free list under a spin lock");
  }();

  static LockedList create(Arena& arena, const Parameters&) {
    LockedList allocator;
    allocator.pool_ = SlotPool(arena);
    allocator.lock_ = arena.metadata<std::uint32_t>(1);
    allocator.head_ = arena.metadata<std::uint32_t>(1);
    allocator.links_ = arena.metadata<std::uint32_t>(allocator.pool_.slots());
    allocator.reset(arena.stream());
    return allocator;
  }
  void reset(simt::Stream& stream) {
    simt::device_fill(stream, lock_, 0, sizeof *lock_);
    simt::device_fill(stream, head_, 0, sizeof *head_);
    simt::launch(stream, {1, 32}, LinkSlots{}, links_, pool_.slots());
  }

  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t) {
    lock(thread);
    const std::uint32_t slot = *head_;
    if (slot == pool_.slots()) {
      if constexpr (bug != LockBug::forgotten_unlock) unlock(thread);
      return nullptr;
    }
    const std::uint32_t next = links_[slot];
    if constexpr (bug == LockBug::early_unlock) {
      unlock(thread);
      thread.spin_hint();  // another lane may take the lock here
      *head_ = next;
    } else {
      *head_ = next;
      unlock(thread);
    }
    return pool_.block(slot);
  }
  template <class Thread>
  SIMT_FN void free(Thread& thread, void* block) {
    if (block == nullptr) return;
    const std::uint32_t slot = pool_.slot_of(block);
    lock(thread);
    links_[slot] = *head_;
    *head_ = slot;
    unlock(thread);
  }

 private:
  template <class Thread>
  SIMT_FN void lock(Thread& thread) {
    const auto lock = thread.atomic(*lock_);
    if constexpr (bug == LockBug::missing_acquire) {
      while (lock.exchange(1u, simt::relaxed) != 0) thread.spin_hint();
    } else {
      while (lock.exchange(1u, simt::acquire) != 0) thread.spin_hint();
    }
  }
  template <class Thread>
  SIMT_FN void unlock(Thread& thread) {
    if constexpr (bug == LockBug::missing_release) {
      thread.atomic(*lock_).store(0u, simt::relaxed);
    } else {
      thread.atomic(*lock_).store(0u, simt::release);
    }
  }

  SlotPool pool_;
  std::uint32_t* lock_ = nullptr;
  std::uint32_t* head_ = nullptr;
  std::uint32_t* links_ = nullptr;
};

}  // namespace allocbench::zoo
