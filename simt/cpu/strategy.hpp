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

// Reason is the event at which the executor asks a strategy.
enum class Reason {
  start,       // the worker begins, or continues after the end of a block or after no lane was runnable
  atomic,      // the lane is before an atomic access, a call of the device heap, or the release of held stores
  spin,        // the lane waits for another lane and gives a spin hint
  collective,  // a group operation or barrier has completed
  gather,      // the lane waits for others at converged()
  blocked,     // the lane waits at a collective or is parked, so it is not runnable any more
  exit         // the lane has ended
};

// GroupDraw selects how hostile converged() is. CUDA promises nothing about __activemask(): the mask may contain only
// the caller, and code that needs more is wrong.
class GroupDraw {
 public:
  // Draws from the seed. With `rarity` 1, one of four calls on average returns the caller alone, and another one a
  // random subset of the arrived lanes. Independently, the first lane does not wait in one of four calls. With rarity
  // n, all of this is n times as rare; with 0 it never happens.
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
  // Reason::blocked and Reason::exit, it is the old index of this lane, at which there may be another lane now (or
  // none). `asking` is the lane that asks. For Reason::start, `current` is 0 and `asking` is null.
  virtual std::size_t next(std::span<Lane* const> runnable, std::size_t current, Reason reason, Lane* asking) = 0;
  // Returns whether a lane that is the first at a converged() continues without waiting for others.
  virtual bool leaves_at_once(Lane& lane);
  // Returns the lanes that converged() groups with `lane`. The executor adds `lane` itself, and leaves out lanes that
  // are not in `gathered`.
  virtual LaneMask group(Lane& lane, LaneMask gathered);
  // Returns whether this launch may hold stores back (store_buffer.hpp).
  virtual bool holds_stores() const { return false; }
  // Returns for how many further steps of the lane a store stays invisible to other lanes. The value 0 makes it visible
  // immediately.
  virtual std::uint32_t steps_held(Lane&) { return 0; }
  // Returns whether loads of this launch may read values that others have replaced (old_values.hpp).
  virtual bool reads_old_values() const { return false; }
  // Returns the age of the value that a load reads if it may read replaced values: 0 for the newest, 1 for the one
  // before it. A number that is too large means the oldest value.
  virtual std::uint32_t age_of_load(Lane&) { return 0; }
  // Tells the strategy that these lanes have just met at one place.
  virtual void met(Warp& warp, LaneMask members);
  // Returns a short text for reports: the name of the strategy and the parameters that it drew from the seed.
  virtual std::string description() const = 0;

 private:
  GroupDraw groups_;
};

// RandomStrategy switches to a random lane with probability 1 / `interval` at atomics and completed group operations,
// and always if a lane waits or ends. Different bugs need different intervals. Preemption at every atomic rarely
// exposes a page that is recycled during an allocation. Rare preemption rarely exposes a lock that is released one step
// early. So the interval varies with the seed unless it is fixed.
class RandomStrategy final : public Strategy {
 public:
  // An `interval` of 0 draws one of 1, 2, 4 … 64 from the seed.
  RandomStrategy(std::uint64_t seed, std::uint32_t interval);
  std::size_t next(std::span<Lane* const> runnable, std::size_t current, Reason reason, Lane* asking) override;
  std::string description() const override;

 private:
  Random random_;
  std::uint32_t interval_;
};

// RoundRobinStrategy runs every lane in turn for `slice` atomics and completed group operations, or until the lane
// waits. This is fair, so in threads mode every lane of a started block makes progress, even if a spin loop has no
// hint.
class RoundRobinStrategy final : public Strategy {
 public:
  RoundRobinStrategy(std::uint32_t slice, GroupDraw groups);
  std::size_t next(std::span<Lane* const> runnable, std::size_t current, Reason reason, Lane* asking) override;
  std::string description() const override;

 private:
  std::uint32_t slice_;
  std::uint32_t left_;
};

// Makes the strategy of a launch of the device. `recorded` collects its decisions if the options request this.
std::unique_ptr<Strategy> make_strategy(const ExecutorOptions& options, std::uint64_t launch_seed, std::uint32_t launch,
                                        Schedule& recorded);
// Makes the strategy with which a launch continues after its step budget.
std::unique_ptr<Strategy> make_fair_strategy();

}  // namespace simt
