// This file computes the usual spread of an allocator's rounds. Tests assume at least this spread, because a few rounds
// of one cell may be close together by chance.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "harness/front/statistics/statistics.hpp"

namespace allocbench::front {

// The median variance of the logarithms, over the cells of one allocator in one phase of one workload.
class UsualVariance {
 public:
  using Key = std::tuple<std::string, std::string, std::string>;  // label of the allocator, workload, phase

  void add(const Key& key, double variance) { values_[key].push_back(variance); }
  // Returns nullopt for a key that was not added.
  std::optional<double> of(const Key& key) const {
    const auto found = values_.find(key);
    return found == values_.end() ? std::nullopt : std::optional(median(found->second));
  }

 private:
  std::map<Key, std::vector<double>> values_;
};

}  // namespace allocbench::front
