// LiveSet is the live set of the workload churn, on the host. It draws the places whose blocks are replaced. This code
// does not depend on devices.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "workloads/support/verification/pointer_check.hpp"

namespace allocbench {

class LiveSet {
 public:
  explicit LiveSet(std::size_t places) : blocks_(places), order_(places) {}

  // Empties the set and starts its draws from the beginning.
  void clear();
  // Draws `count` different places from the seed and the number of the round. The result also depends on the draws
  // since clear().
  std::span<const std::uint32_t> draw(std::size_t count, std::uint64_t seed, std::uint64_t round);

  std::size_t places() const { return blocks_.size(); }
  RecordedBlock& operator[](std::size_t place) { return blocks_[place]; }
  // Returns the blocks that are not null.
  std::vector<RecordedBlock> blocks() const;
  std::uint64_t bytes() const;
  // Returns the distance from the start of the lowest block to the end of the highest block, or 0 without blocks.
  std::uint64_t address_range() const;

 private:
  std::vector<RecordedBlock> blocks_;
  std::vector<std::uint32_t> order_;
};

}  // namespace allocbench
