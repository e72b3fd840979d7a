// OldValues holds values that a load may still return after other lanes have replaced them
// (ExecutorOptions::read_old_values).
//
// A GPU may execute a load before earlier loads of other words by the same lane. So the load may return a value that
// was replaced before those other loads. The rules are those of C++20, except that no load sees a store that is made
// later (no load buffering):
// * Each lane has a view. For each word, the view names the oldest value that the lane may read. A value that the lane
//   reads or writes becomes the oldest one.
// * A release store or update attaches the lane's view to the value. An update also attaches the view of the value that
//   it replaced. An acquiring access adopts the view of the value that it reads.
// * sync() and the block barrier unite the views of their lanes. The device heap's malloc() adopts the views of all
//   lanes that called free(). At the start of a launch, only the values in memory can be read.
// * Updates read the newest value, because a GPU performs them in its L2 cache. This includes compare-exchanges that
//   fail.
//
// OldValues keeps at most eight values of each word, the newest included. If a word does not contain its newest kept
// value, it was written without atomics, and all older values are dropped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace simt {

class OldValues {
 public:
  // Order is the memory order of an access.
  struct Order {
    bool acquires = false;
    bool releases = false;
    bool updates = false;  // true if the access reads the value that it replaces
  };

  void clear();
  // Returns how many values of the word the lane may read besides the newest.
  std::uint32_t readable(std::uint64_t lane, const void* word, std::uint64_t newest);
  // Reads the value that is `age` places before the newest.
  std::uint64_t read(std::uint64_t lane, const void* word, std::uint32_t age, bool acquires);
  void write(std::uint64_t lane, const void* word, std::uint64_t before, std::uint64_t after, Order order);
  // Unites the views of these lanes.
  template <class Lanes>
  void meet(const Lanes& lanes) {
    View all;
    for (const std::uint64_t lane : lanes) join(all, view_of(lane));
    for (const std::uint64_t lane : lanes) view_of(lane) = all;
  }
  void heap_freed(std::uint64_t lane) { join(freed_, view_of(lane)); }
  void heap_allocated(std::uint64_t lane) { join(view_of(lane), freed_); }

 private:
  // View has, for each word, the time at which the oldest readable value was written.
  using View = std::vector<std::uint32_t>;
  struct Value {
    std::uint64_t value;
    std::uint32_t written;
    std::shared_ptr<const View> view;  // view that the write attached; null if it attached none
  };
  struct Word {
    std::size_t index = 0;      // place of the word in views
    std::vector<Value> values;  // values of the word, the newest last
  };
  static constexpr std::size_t most_values = 8;

  static void join(View& view, const View& other);
  static std::uint32_t& time_in(View& view, std::size_t index);
  View& view_of(std::uint64_t lane);
  Word& word_at(const void* address, std::uint64_t newest);

  std::unordered_map<const void*, Word> words_;
  std::unordered_map<std::uint64_t, View> views_;
  View freed_;
  std::uint32_t now_ = 0;
};

}  // namespace simt
