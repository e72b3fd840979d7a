// What the text and the Markdown of a comparison say in the same words.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/front/compare/comparison.hpp"

namespace allocbench::front {

struct VerdictCounts {
  std::array<std::size_t, 4> phases{};  // by verdict
  std::size_t worse = 0;                // cells that were ok and are not
  std::size_t better = 0;               // the other way round

  std::size_t of(Verdict verdict) const { return phases[static_cast<std::size_t>(verdict)]; }
};

// By the label of the allocator, in the order of A.
std::vector<std::pair<std::string, VerdictCounts>> counts_by_allocator(const Comparison& comparison);
// Counts the phases without a verdict by reason.
std::map<std::string, std::size_t> reasons_for_unsure(const Comparison& comparison);

// The name of the cell, without the figure if both sides have one and the same.
std::string shown_name(const Comparison& comparison, const ComparedCell& cell);
// "+5.0 %", and "x2.31" from a factor of two up.
// The status, and whether the numbers are provisional.
std::string status_text(const ComparedCell& cell);
// Which sides are provisional: "provisional: A and B"; empty where none is.
std::string provisional_text(const CellComparison& cell);
std::string change_text(double ratio);
std::string interval_text(const Interval& interval);
// What was measured on which device at which revision, and what makes the sides hard to compare.
std::string origin(const Side& side);
std::vector<std::string> warnings(const Comparison& comparison);
// What the verdicts mean, with the numbers of this comparison.
std::string legend(const Comparison& comparison);
// Whether B is a regression, and why.
std::string conclusion(const Comparison& comparison);

}  // namespace allocbench::front
