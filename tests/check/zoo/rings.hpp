// These specimens of the bug zoo (specimen.hpp) keep free slots in a ring.
#pragma once

#include "tests/check/zoo/specimen.hpp"

namespace allocbench::zoo {

// MissedMark hands slots out in the order of their numbers. They return in any order, but are recycled in order: a free
// marks its own number, then moves the head over the marked ones. If two lanes free neighbours, the later one must see
// both marks. A store of the mark and then a load do not guarantee this. A GPU may let the load overtake the store.
// Then both lanes miss the other's mark, and the head stays forever. Only a search that holds stores back finds this.
// In the repaired form, an update replaces the load and makes the lane's own mark visible first.
template <Form form>
class MissedMark : public Specimen {
 public:
  static constexpr Traits traits =
      specimen(form, "zoo_missed_mark", "zoo_missed_mark_repaired",
               "two lanes mark their own node and load the other's: both marks are missed");

  static MissedMark create(Arena& arena, const Parameters&) {
    MissedMark allocator;
    allocator.pool_ = SlotPool(arena);
    allocator.head_ = arena.metadata<std::uint32_t>(1);
    allocator.tail_ = arena.metadata<std::uint32_t>(1);
    allocator.numbers_ = arena.metadata<std::uint32_t>(allocator.pool_.slots());
    allocator.marks_ = arena.metadata<std::uint32_t>(allocator.pool_.slots());
    return allocator;
  }
  void reset(simt::Stream& stream) {
    simt::device_fill(stream, head_, 0, sizeof *head_);
    simt::device_fill(stream, tail_, 0, sizeof *tail_);
    simt::device_fill(stream, marks_, 0, pool_.slots() * sizeof *marks_);
  }

  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t) {
    const auto tail = thread.atomic(*tail_);
    std::uint32_t number = tail.load(simt::relaxed);
    do {
      // The head may have passed a number that is read late. Then the exchange fails.
      const std::uint32_t in_use = number - thread.atomic(*head_).load(simt::acquire);
      if (in_use >= pool_.slots() && static_cast<std::int32_t>(in_use) > 0) return nullptr;
    } while (!tail.compare_exchange(number, number + 1, simt::relaxed, simt::relaxed));
    const std::uint32_t slot = number % pool_.slots();
    thread.atomic(numbers_[slot]).store(number, simt::relaxed);
    return pool_.block(slot);
  }
  template <class Thread>
  SIMT_FN void free(Thread& thread, void* block) {
    if (block == nullptr) return;
    const std::uint32_t slot = pool_.slot_of(block);
    const std::uint32_t number = thread.atomic(numbers_[slot]).load(simt::relaxed);
    thread.atomic(marks_[slot]).store(number + 1, simt::release);
    const auto head = thread.atomic(*head_);
    std::uint32_t first = form == Form::broken ? head.load(simt::acquire) : head.fetch_or(0u, simt::acq_rel);
    while (thread.atomic(marks_[first % pool_.slots()]).load(simt::acquire) == first + 1) {
      if (head.compare_exchange(first, first + 1, simt::acq_rel, simt::acquire)) ++first;
    }
  }

 private:
  SlotPool pool_;
  std::uint32_t* head_ = nullptr;
  std::uint32_t* tail_ = nullptr;
  std::uint32_t* numbers_ = nullptr;  // number of a slot in use
  std::uint32_t* marks_ = nullptr;    // number of a freed slot plus 1
};

// RingWrap is a ring of free slots with tickets at both ends. A lane that has a ticket but has not taken its slot yet
// keeps its place in the ring. A put one lap later must wait for this lane. A put that does not wait overwrites a slot,
// and the lane with the ticket of the overwritten slot waits forever.
template <Form form>
class RingWrap : public Specimen {
 public:
  static constexpr Traits traits = specimen(form, "zoo_ring_wrap", "zoo_ring_wrap_repaired",
                                            "a put one lap later overwrites what a slow take has not taken yet");

  static RingWrap create(Arena& arena, const Parameters&) {
    RingWrap allocator;
    allocator.pool_ = SlotPool(arena);
    allocator.taken_ = arena.metadata<std::uint32_t>(1);
    allocator.front_ = arena.metadata<std::uint32_t>(1);
    allocator.back_ = arena.metadata<std::uint32_t>(1);
    allocator.places_ = arena.metadata<std::uint32_t>(allocator.pool_.slots());
    return allocator;
  }
  void reset(simt::Stream& stream) {
    simt::device_fill(stream, taken_, 0, sizeof *taken_);
    simt::device_fill(stream, front_, 0, sizeof *front_);
    simt::device_fill(stream, back_, 0, sizeof *back_);
    simt::device_fill(stream, places_, 0, pool_.slots() * sizeof *places_);
  }
  static SmallHeap<Parameters> small_heap() { return {.pool_bytes = 8 * SlotPool::slot_bytes}; }
  static SmallHeap<Parameters> second_small_heap() { return small_heap(); }

  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t) {
    const auto taken = thread.atomic(*taken_);
    std::uint32_t seen = taken.load(simt::relaxed);
    do {
      if (seen >= pool_.slots()) return nullptr;
    } while (!taken.compare_exchange(seen, seen + 1, simt::relaxed, simt::relaxed));
    const std::uint32_t place = thread.atomic(*front_).fetch_add(1u, simt::relaxed) % pool_.slots();
    std::uint32_t found = empty;
    while ((found = thread.atomic(places_[place]).exchange(empty, simt::acquire)) == empty) thread.spin_hint();
    return pool_.block(found == 0 ? place : found - 1);
  }
  template <class Thread>
  SIMT_FN void free(Thread& thread, void* block) {
    if (block == nullptr) return;
    const std::uint32_t mine = pool_.slot_of(block) + 1;
    const auto place = thread.atomic(places_[thread.atomic(*back_).fetch_add(1u, simt::relaxed) % pool_.slots()]);
    if constexpr (form == Form::broken) {
      place.store(mine, simt::release);
    } else {
      for (std::uint32_t seen = empty; !place.compare_exchange(seen, mine, simt::release, simt::relaxed);
           seen = empty) {
        thread.spin_hint();
      }
    }
    thread.atomic(*taken_).fetch_sub(1u, simt::relaxed);
  }

 private:
  // A place holds `empty`, a slot plus 1, or 0. In a new heap, 0 stands for the slot with the number of the place.
  static constexpr std::uint32_t empty = 0xffffffffu;

  SlotPool pool_;
  std::uint32_t* taken_ = nullptr;
  std::uint32_t* front_ = nullptr;
  std::uint32_t* back_ = nullptr;
  std::uint32_t* places_ = nullptr;
};

}  // namespace allocbench::zoo
