// StoreBuffer holds the stores of one lane that no other lane can see yet (ExecutorOptions::hold_stores).
//
// A GPU may let a thread's loads overtake its earlier stores to other words. Without a fence, PTX orders a relaxed or
// release store before a later load of the same thread only if the two touch the same word. Held stores reveal code
// that relies on a stronger order. Rules:
// * A lane sees its own stores.
// * Stores to one word become visible in the lane's order.
// * A release store becomes visible after all earlier stores of the lane. An update (read-modify-write) with release
//   order also becomes visible after them. Other updates wait only for the lane's stores to the same word.
// * Updates are never held back, because a GPU performs them in its L2 cache, where all threads see the result
//   immediately.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "simt/cpu/call_site.hpp"

namespace simt {

struct HeldStore {
  void* address = nullptr;
  std::uint64_t value = 0;
  std::uint32_t bytes = 0;
  std::uint32_t steps_left = 0;  // steps of the lane until the store becomes visible
  bool is_release = false;
  CallSite site;

  bool overlaps(const void* begin, std::size_t size) const {
    const auto first = reinterpret_cast<std::uintptr_t>(address);
    const auto other = reinterpret_cast<std::uintptr_t>(begin);
    return first < other + size && other < first + bytes;
  }
};

// StoreBuffer holds stores in the order in which the lane made them.
class StoreBuffer {
 public:
  bool empty() const { return held_.empty(); }
  void clear() { held_.clear(); }
  void add(const HeldStore& store) { held_.push_back(store); }
  // Returns the lane's last store to any of these bytes, or null if the buffer holds none.
  const HeldStore* last_store_to(const void* address, std::size_t bytes) const;

  // The functions below call `write(store)` for the stores that become visible, in an order that the rules above allow.
  template <class Write>
  void release_all(Write&& write) {
    release_up_to(held_.size(), write);
  }
  template <class Write>
  void release_overlapping(const void* address, std::size_t bytes, Write&& write) {
    release_where([=](const HeldStore& store) { return store.overlaps(address, bytes); }, write);
  }
  // Counts a step of the lane. The stores whose steps are over become visible.
  template <class Write>
  void age(Write&& write) {
    release_where([](HeldStore& store) { return store.steps_left-- == 0; }, write);
  }

 private:
  template <class Due, class Write>
  void release_where(Due&& due, Write&& write) {
    for (std::size_t i = 0; i < held_.size();) {
      if (!due(held_[i])) {
        ++i;
        continue;
      }
      // All earlier stores were checked, so no store is checked twice.
      i -= release_one(i, write);
    }
  }
  // Makes store `index` visible, after the stores that must come first. Returns how many earlier stores became visible.
  template <class Write>
  std::size_t release_one(std::size_t index, Write&& write) {
    if (held_[index].is_release) {
      release_up_to(index + 1, write);
      return index;
    }
    std::size_t gone = 0;
    for (std::size_t i = 0; i + gone < index;) {
      if (held_[i].overlaps(held_[index - gone].address, held_[index - gone].bytes)) {
        gone += release_one(i, write) + 1;
        i = 0;
      } else {
        ++i;
      }
    }
    write(held_[index - gone]);
    held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(index - gone));
    return gone;
  }
  template <class Write>
  void release_up_to(std::size_t end, Write&& write) {
    for (std::size_t i = 0; i < end; ++i) write(held_[i]);
    held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(end));
  }

  std::vector<HeldStore> held_;
};

}  // namespace simt
