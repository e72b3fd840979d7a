// This file computes the difference between two cards: the ratio of times for each family of allocators (the first word
// of an id) and each workload.
#pragma once

#include <string>
#include <vector>

#include "harness/front/compare/comparison.hpp"

namespace allocbench::front {

// Returns "halloc" for halloc_reworked, because the ids of a family begin with the same word.
std::string family_of(const std::string& allocator);

// Summary of the ratios for one family of allocators or one workload. Each cell that has a time
// on both sides gives one ratio: the time of B divided by the time of A.
struct FamilyRatio {
  std::string kind;  // "allocator" or "workload"
  std::string name;
  std::size_t cells = 0;
  double median = 1;
  Interval quartiles{};  // half of the ratios lie between these bounds
};

// Returns the families of allocators by name, then the workloads by name.
std::vector<FamilyRatio> ratios_by_family(const Comparison& comparison);

// Returns a title, and one line per family and per workload. Returns an empty text if no cell has a time on both sides.
std::string families_text(const std::vector<FamilyRatio>& families);
std::string families_markdown(const std::vector<FamilyRatio>& families);

}  // namespace allocbench::front
