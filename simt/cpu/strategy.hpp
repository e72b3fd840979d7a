// A strategy decides which lane runs next and which lanes converged() returns. These decisions determine the
// interleaving of a launch.
//
// The executor asks the strategy at every scheduling point. The state of a strategy follows from its seed and its
// earlier answers, so a short description is enough to replay a launch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "simt/common.hpp"
#include "simt/cpu/options.hpp"
#include "simt/cpu/random.hpp"

namespace simt {

struct Lane;
struct Schedule;
struct Warp;

// Why a strategy is asked.
enum class Reason {
  start,       // a worker begins, or continues after it started a block
  atomic,      // before an atomic access
  spin,        // the lane waits for another one and says so
  collective,  // a group operation or barrier has completed
  gather,      // the lane waits for others at converged()
  blocked,     // the lane waits at a collective or is parked: it is no longer runnable
  exit         // the lane has ended
};

// How hostile converged() is. CUDA promises nothing about __activemask(): the mask may contain only the caller, and
// code that needs more is wrong.
class GroupDraw {
 public:
  // With `rarity` 1, in one of four calls the group is the caller alone, and in another one it is a random subset of
  // the lanes that arrived. In one of four calls the first lane does not wait. With rarity n all of this is n times as
  // rare; with 0 it never happens.
  GroupDraw(std::uint64_t seed, std::uint32_t rarity) : random_(seed), rarity_(rarity) {}
  bool leaves_at_once() { return rarity_ != 0 && random_.below(4 * rarity_) == 0; }
  LaneMask draw(LaneMask gathered);

 private:
  Random random_;
  std::uint32_t rarity_;
};

class Strategy {
 public:
  explicit Strategy(GroupDraw groups) : groups_(groups) {}
  virtual ~Strategy() = default;
  Strategy(const Strategy&) = delete;
  Strategy& operator=(const Strategy&) = delete;

  // Returns the index of the lane to run. `runnable` is not empty. `current` is the index of the lane that asks. For
  // Reason::blocked and Reason::exit it is the old index of that lane, where another lane may be now (or one past the
  // end). `asking` is that lane; null for Reason::start.
  virtual std::size_t next(std::span<Lane* const> runnable, std::size_t current, Reason reason, Lane* asking) = 0;
  // Whether a lane that is the first at a converged() continues without waiting for others.
  virtual bool leaves_at_once(Lane& lane);
  // The group that converged() gives to `lane`, a subset of the lanes that gathered with it.
  virtual LaneMask group(Lane& lane, LaneMask gathered);
  // Whether this launch holds any stores back (store_buffer.hpp).
  virtual bool holds_stores() const { return false; }
  // For how many further steps of the lane a store stays invisible to other lanes. 0: it is visible immediately.
  virtual std::uint32_t steps_held(Lane&) { return 0; }
  // Whether loads of this launch may read values that others have replaced (old_values.hpp).
  virtual bool reads_old_values() const { return false; }
  // For a load that may read replaced values: how many values older than the newest it reads. A number that is too
  // large means the oldest value.
  virtual std::uint32_t age_of_load(Lane&) { return 0; }
  // These lanes have just met at one place.
  virtual void met(Warp& warp, LaneMask members);
  // Short text for reports: the name of the strategy and the parameters that it drew from the seed.
  virtual std::string description() const = 0;

 private:
  GroupDraw groups_;
};

// Switches to a random lane at one of `interval` atomics. No single interval finds all bugs. Preemption at every atomic
// misses a page that is recycled during an allocation. Rare preemption misses a lock that is released one step early.
// So the interval varies with the seed unless it is fixed.
class RandomStrategy final : public Strategy {
 public:
  // `interval` 0 draws one of 1, 2, 4 … 64 from the seed.
  RandomStrategy(std::uint64_t seed, std::uint32_t interval);
  std::size_t next(std::span<Lane* const> runnable, std::size_t current, Reason reason, Lane* asking) override;
  std::string description() const override;

 private:
  Random random_;
  std::uint32_t interval_;
};

// Runs every lane in turn for `slice` atomics. This is fair, so in threads mode every lane of a started block makes
// progress, even if a spin loop has no hint.
class RoundRobinStrategy final : public Strategy {
 public:
  RoundRobinStrategy(std::uint32_t slice, GroupDraw groups);
  std::size_t next(std::span<Lane* const> runnable, std::size_t current, Reason reason, Lane* asking) override;
  std::string description() const override;

 private:
  std::uint32_t slice_;
  std::uint32_t left_;
};

// The strategy of a launch of the device; `recorded` collects its decisions when the options ask for that.
std::unique_ptr<Strategy> make_strategy(const ExecutorOptions& options, std::uint64_t launch_seed, std::uint32_t launch,
                                        Schedule& recorded);
// How a launch continues after its step budget.
std::unique_ptr<Strategy> make_fair_strategy();

}  // namespace simt
