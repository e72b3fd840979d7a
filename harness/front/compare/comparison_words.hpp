// These functions make phrases that the text and the Markdown of a comparison share.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/front/compare/comparison.hpp"

namespace allocbench::front {

struct VerdictCounts {
  std::array<std::size_t, 4> phases{};  // number of phases with each verdict
  std::size_t worse = 0;                // cells that are ok only in A
  std::size_t better = 0;               // cells that are ok only in B

  std::size_t of(Verdict verdict) const { return phases[static_cast<std::size_t>(verdict)]; }
};

// Counts verdicts and changed statuses by the label of the allocator, in the order of A.
std::vector<std::pair<std::string, VerdictCounts>> counts_by_allocator(const Comparison& comparison);
// Counts the phases with the verdict `unsure` by reason.
std::map<std::string, std::size_t> reasons_for_unsure(const Comparison& comparison);

// Returns the name of the cell, without the figure if both sides have the same single figure.
std::string shown_name(const Comparison& comparison, const ComparedCell& cell);
// Returns the status, and whether the numbers are provisional.
std::string status_text(const ComparedCell& cell);
// Names the provisional sides, as in "provisional: A and B". Returns an empty text if there is none.
std::string provisional_text(const CellComparison& cell);
// Returns a text such as "+5.0 %", or such as "x2.31" if the ratio is at least 2 or at most 0.5.
std::string change_text(double ratio);
std::string interval_text(const Interval& interval);
// Returns the figures, devices and revisions of a side. warnings() returns facts that make a comparison difficult.
std::string origin(const Side& side);
std::vector<std::string> warnings(const Comparison& comparison);
// Returns the meaning of the verdicts, with the numbers of this comparison.
std::string legend(const Comparison& comparison);
// States whether B has a regression, and why.
std::string conclusion(const Comparison& comparison);

}  // namespace allocbench::front
