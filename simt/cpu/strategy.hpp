// Who runs next: the one question that decides which interleaving a launch takes.
//
// A strategy is asked at every scheduling point and keeps no state besides what its seed and its former answers give,
// so that a launch can be replayed from a short description.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "simt/cpu/options.hpp"
#include "simt/cpu/random.hpp"

namespace simt {

struct Lane;

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

class Strategy {
 public:
  virtual ~Strategy() = default;
  // The index of the lane to run. `runnable` is not empty. `current` is the index of the lane that asks; for
  // Reason::blocked and Reason::exit it is where that lane was, and another one may have taken the place (or it is one
  // past the end).
  virtual std::size_t next(std::span<Lane* const> runnable, std::size_t current, Reason reason) = 0;
  // Short text for reports: its name and what it drew from the seed.
  virtual std::string description() const = 0;
};

// Goes on with a random lane at one of `interval` atomics. One density does not find all bugs: preempting at every
// atomic misses a page that is recycled under an allocation, preempting rarely misses a lock released one step early;
// so the interval varies with the seed unless it is fixed.
class RandomStrategy final : public Strategy {
 public:
  // `interval` 0 draws one of 1, 2, 4 … 64 from the seed.
  RandomStrategy(std::uint64_t seed, std::uint32_t interval);
  std::size_t next(std::span<Lane* const> runnable, std::size_t current, Reason reason) override;
  std::string description() const override;

 private:
  Random random_;
  std::uint32_t interval_;
};

// Every lane in turn for `slice` atomics. Fair, so every lane of a started block makes progress in threads mode, also
// where a spin loop forgot its hint.
class RoundRobinStrategy final : public Strategy {
 public:
  explicit RoundRobinStrategy(std::uint32_t slice);
  std::size_t next(std::span<Lane* const> runnable, std::size_t current, Reason reason) override;
  std::string description() const override;

 private:
  std::uint32_t slice_;
  std::uint32_t left_;
};

std::unique_ptr<Strategy> make_strategy(const ExecutorOptions& options);

}  // namespace simt
