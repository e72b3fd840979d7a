// These types are the state of lanes, warps and blocks during a launch. The members of Lane are the calls of Thread,
// Group and atomic_ref into the executor.
//
// The state of a block belongs to one worker (one OS thread), so it needs no lock. A block never moves to another OS
// thread, because compilers keep the address of thread-local storage across a fiber switch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "simt/common.hpp"
#include "simt/cpu/call_site.hpp"
#include "simt/cpu/fiber.hpp"
#include "simt/cpu/old_values.hpp"
#include "simt/cpu/store_buffer.hpp"

// SIMT_NOT_RACING marks inline members that write data shared by all lanes of a worker. The race build
// (simt/cpu/races.hpp) does not instrument them: only one lane runs at a time, and ThreadSanitizer must not derive an
// order of the lanes from these writes.
#if SIMT_RACES
#define SIMT_NOT_RACING __attribute__((no_sanitize("thread")))
#else
#define SIMT_NOT_RACING
#endif

namespace simt {

// The race build does not delay accesses, because ThreadSanitizer must see each access at its place in the source.
#if SIMT_RACES
inline constexpr bool accesses_can_be_late = false;
#else
inline constexpr bool accesses_can_be_late = true;
#endif

class History;
class Worker;
struct Block;
struct Warp;

// LaneExit is thrown in a lane that ends before its kernel returns. The exception never leaves a launch.
struct LaneExit {};

enum class LaneState : std::uint8_t {
  runnable,
  gathering,   // the lane is at converged() and still runnable
  waiting,     // the lane waits at a group operation
  at_barrier,  // the lane waits at the block barrier
  parked,      // the lane spins on words that do not change
  exited
};

enum class Operation : std::uint8_t {
  none,
  atomic,
  held_store,  // a held store that becomes visible
  spin_hint,
  device_heap,
  converged,
  sync,
  ballot,
  any,
  all,
  shfl,
  match_any,
  reduce_add,
  reduce_max,
  exclusive_sum,
  block_barrier
};

// SpinWatch holds the last words (at most 8) that a lane has read since its last step that was not part of spinning.
class SpinWatch {
 public:
  struct Word {
    const void* address;
    std::uint64_t value;
    std::uint32_t bytes;
  };
  static constexpr std::uint32_t capacity = 8;

  // Returns true if the last `limit` reads all found values that are in this list. Then the lane probably waits for a
  // change of one of these words (or it polls a limited number of times).
  SIMT_NOT_RACING bool observe(const void* address, std::uint64_t value, std::uint32_t bytes, std::uint32_t limit) {
    for (std::uint32_t i = 0; i < count_; ++i) {
      if (words_[i].address == address && words_[i].value == value) {
        in_streak_ |= 1u << i;
        return ++streak_ >= limit;
      }
    }
    remember(address, value, bytes);
    return false;
  }
  SIMT_NOT_RACING void reset() {
    count_ = 0;
    streak_ = 0;
    in_streak_ = 0;
  }
  // Removes the words that are not part of the spin loop.
  void keep_streak_only();
  bool any_changed() const;
  const Word* begin() const { return words_; }
  const Word* end() const { return words_ + count_; }

 private:
  void remember(const void* address, std::uint64_t value, std::uint32_t bytes);

  Word words_[capacity];
  std::uint32_t count_ = 0;
  std::uint32_t oldest_ = 0;
  std::uint32_t streak_ = 0;
  std::uint32_t in_streak_ = 0;  // bit i is set if words_[i] was read in the present streak
};

// WatchFilter counts the parked lanes that watch a word, by a hash of the word's address. A writer needs one load to
// see that no lane watches its word.
class WatchFilter {
 public:
  SIMT_NOT_RACING std::uint32_t& count(const void* address) {
    return counts_[(reinterpret_cast<std::uintptr_t>(address) >> 2) % size];
  }

 private:
  static constexpr std::size_t size = 256;
  std::uint32_t counts_[size] = {};
};

// AccessTracker holds data that the accesses of lanes exchange with their worker without a function call.
struct AccessTracker {
  WatchFilter watched;
  bool progress = false;      // true if something changed since the worker last had no runnable lane
  bool word_changed = false;  // true if an atomic word changed since the last grant of grace steps
  std::uint32_t spin_limit = 0;
  bool holds_stores = false;        // true if the launch may hold stores back
  OldValues* old_values = nullptr;  // null if loads read the newest value
  History* history = nullptr;       // null if the options request no history
};

struct alignas(64) Lane {
  FiberContext context;
  Worker* worker = nullptr;
  AccessTracker* tracker = nullptr;
  Warp* warp = nullptr;
  Block* block = nullptr;
  std::uint32_t index = 0;  // number of the lane in the warp
  std::uint32_t rank_in_block = 0;
  std::uint64_t rank_in_grid = 0;
  std::uint32_t position = 0;  // position of the lane in the worker's run set
  LaneState state = LaneState::exited;
  Operation operation = Operation::none;
  const void* accessed = nullptr;  // word of the lane's last atomic access, or of the pending one
  CallSite site;
  LaneMask mask = 0;         // mask of the group operation, or result of converged()
  std::uint32_t source = 0;  // lane that a shfl reads
  std::uint64_t value = 0;   // argument of the lane to the group operation
  std::uint64_t result = 0;  // result of the group operation for the lane
  std::uint32_t spin_limit = 0;
  SpinWatch watch;
  StoreBuffer stores;
  std::uint64_t strategy_state = 0;  // reserved for the strategy; 0 when the lane starts
  std::uint32_t counted_steps = 0;   // counter of QuestionCounter
  std::uint32_t counted_questions = 0;

  LaneMask bit() const { return LaneMask{1} << index; }

  // Makes a scheduling point before an atomic access.
  void before_access(CallSite call_site, const void* of_word);
  // Records an access that changed nothing. Parks a lane that only spins.
  SIMT_NOT_RACING void observed(const void* address, std::uint64_t word, std::uint32_t bytes) {
    if (tracker->history != nullptr) [[unlikely]]
      remember_access(address, word, word, bytes);
    if (watch.observe(address, word, bytes, spin_limit)) [[unlikely]]
      park();
  }
  // Records a store or another access that changed a word.
  SIMT_NOT_RACING void changed(const void* address, std::uint64_t before, std::uint64_t after, std::uint32_t bytes) {
    if (tracker->history != nullptr) [[unlikely]]
      remember_access(address, before, after, bytes);
    advanced();
    tracker->word_changed = true;
    if (tracker->watched.count(address) != 0) [[unlikely]]
      wake_watchers(address);
  }
  // Records any other step that is not part of spinning.
  SIMT_NOT_RACING void advanced() {
    watch.reset();
    spin_limit = tracker->spin_limit;
    tracker->progress = true;
  }

  // Returns whether the lane holds this store back, so that other lanes see it later (store_buffer.hpp).
  bool hold_back(void* address, std::uint64_t word, std::uint32_t bytes, bool is_release);
  // Returns true if a held store of the lane provides the value of a load. Sets `word` to this value.
  bool sees_own_store(const void* address, std::uint32_t bytes, std::uint64_t& word);
  // Makes visible the held stores that must come before an update, or before a store that is not held back.
  void before_update(const void* address, std::uint32_t bytes, bool is_release);
  // The first function makes all held stores visible. The second one makes visible only the stores to these bytes and
  // the stores that must come before those. Callers use the second one before the lane accesses the bytes without
  // atomics.
  void show_stores();
  void show_stores(const void* address, std::size_t bytes);
  // Makes all held stores visible after one scheduling point. Callers use it before an operation that orders memory,
  // and at the end of the lane.
  void order_stores(CallSite call_site) {
    if (!stores.empty()) [[unlikely]]
      wait_for_stores(call_site);
  }

  // Returns the value that a load gets while memory contains `newest`. Other lanes may already have replaced the
  // returned value (old_values.hpp).
  std::uint64_t read_old(const void* address, std::uint64_t newest, std::uint32_t bytes, bool acquires);
  // Records that a failed compare-exchange has read the newest value.
  void read_newest(const void* address, std::uint64_t newest, std::uint32_t bytes, bool acquires);
  void write_over(const void* address, std::uint64_t before, std::uint64_t after, std::uint32_t bytes,
                  OldValues::Order order);

  void spin_hint(CallSite call_site);
  // Waits for the other lanes of `group` and returns the result of this lane. `argument` is the value that this lane
  // contributes, and `from` is the source lane of shfl.
  std::uint64_t collective(Operation kind, LaneMask group, CallSite call_site, std::uint64_t argument,
                           std::uint32_t from = 0);
  LaneMask converge(CallSite call_site);
  void block_barrier(CallSite call_site);
  std::uint64_t clock();
  // Ends the launch. The code of this lane does not continue.
  [[noreturn]] void fail(FaultKind kind, const char* text, CallSite call_site);
  // Adds a row to the history, if there is one. The row keeps the pointer `text`, which must outlive the history.
  void note(const char* text, std::uint64_t with_value, CallSite call_site);
  void* heap_malloc(std::size_t bytes, CallSite call_site);
  void heap_free(void* memory, CallSite call_site);

 private:
  void remember_access(const void* address, std::uint64_t before, std::uint64_t after, std::uint32_t bytes);
  void remember_operation();
  void age_stores();
  void show(const HeldStore& store);
  void wait_for_stores(CallSite call_site);
  void park();
  void wake_watchers(const void* address);
};

struct Warp {
  Block* block = nullptr;
  Lane* lanes = nullptr;
  std::uint32_t index = 0;  // number of the warp in the block
  LaneMask present = 0;     // lanes that the launch gave this warp; fewer than 32 in a partial last warp
  LaneMask exited = 0;
  std::uint32_t counted_gatherings = 0;  // counter of QuestionCounter
  std::uint32_t counted_groups = 0;
};

struct KernelCall;

struct Block {
  const KernelCall* call = nullptr;
  std::uint32_t index = 0;
  std::uint32_t block_count = 0;
  std::uint32_t size = 0;  // number of threads
  std::uint32_t sm = 0;
  std::uint32_t sm_count = 0;
  std::uint32_t first_warp_slot = 0;
  std::uint32_t live = 0;     // number of lanes that have not exited
  std::uint32_t blocked = 0;  // number of these lanes that wait at a group operation or the barrier
  std::uint32_t at_barrier = 0;
  std::unique_ptr<Lane[]> lanes;
  std::uint32_t lane_capacity = 0;
  std::vector<Warp> warps;
  std::unique_ptr<std::uint64_t[]> shared;  // aligned to 16 bytes by operator new
  std::size_t shared_bytes = 0;
  std::size_t shared_capacity = 0;
};

}  // namespace simt
