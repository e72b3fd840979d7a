// How two cards differ: the ratio of times for each family of allocators (the first word of an id) and each workload.
#pragma once

#include <string>
#include <vector>

#include "harness/front/compare/comparison.hpp"

namespace allocbench::front {

// "halloc" for halloc_reworked, because the ids of a family begin with the same word.
std::string family_of(const std::string& allocator);

// Times of B over times of A: one ratio per cell that has a time on both sides.
struct FamilyRatio {
  std::string kind;  // allocator, workload
  std::string name;
  std::size_t cells = 0;
  double median = 1;
  Interval quartiles{};  // half of the cells are between these bounds
};

// Families of allocators by name, then workloads by name.
std::vector<FamilyRatio> ratios_by_family(const Comparison& comparison);

// One line per family, at most 80 columns. Empty if no cell has a time on both sides.
std::string families_text(const std::vector<FamilyRatio>& families);
std::string families_markdown(const std::vector<FamilyRatio>& families);

}  // namespace allocbench::front
