// A comparison compares two sets of results, its sides A and B, cell by cell. It states what became slower or faster,
// what is the same, and what is unsure.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/front/compare/side.hpp"
#include "harness/front/statistics/effect.hpp"

namespace allocbench::front {

// Smaller differences are ignored, because intervals of ±1.3 % can hardly separate them.
inline constexpr double default_margin = 0.03;

enum class Verdict { slower, faster, same, unsure };
std::string_view word(Verdict verdict);

struct PhaseComparison {
  std::string phase;
  Estimate a;
  Estimate b;
  std::size_t rounds_of_a = 0;
  std::size_t rounds_of_b = 0;
  bool from_intervals = false;   // whether a side has only a stored time
  std::optional<Effect> effect;  // difference of the sides; empty if it cannot be tested
  double adjusted_chance = 1;    // chance of such a difference if the sides are equal, corrected by Holm for all phases
  Verdict verdict = Verdict::unsure;
  std::string reason;  // reason for the verdict `unsure`
};

struct CellComparison {
  const ComparedCell* a;
  const ComparedCell* b;
  std::vector<PhaseComparison> phases;  // phases of the cell; empty unless both sides are ok

  bool status_changed() const { return a->status != b->status; }
  // Returns whether the cell is ok in A but not in B.
  bool worse_status() const { return a->status == Status::ok && b->status != Status::ok; }
};

struct Comparison {
  Side a;
  Side b;
  double margin = default_margin;
  std::vector<CellComparison> cells;  // pairs of cells, in the order of A
  std::vector<const ComparedCell*> only_in_a;
  std::vector<const ComparedCell*> only_in_b;
  std::vector<const ComparedCell*> missing;  // ok in A, but B lacks the cell, a phase of it or enough rounds

  std::size_t count(Verdict verdict) const;
  std::size_t tested() const;          // number of phases that could be tested
  std::size_t from_intervals() const;  // number of these phases whose effect comes from stored intervals
  std::size_t worse_statuses() const;
  bool regression() const { return count(Verdict::slower) > 0 || worse_statuses() > 0; }
};

struct ComparisonOptions {
  double margin = default_margin;
  std::vector<std::string> ignored = {};  // parts of the definition in which the cells of a pair may differ
};

// Throws UsageError if a key of `ignored` defines no cell of the sides. A misspelt key would change nothing.
void require_known_keys(const std::vector<const Side*>& sides, const std::vector<std::string>& ignored);

// Compares two sides. The result owns the sides and points to their cells. Throws UsageError with the likely cause if
// the sides have no cell in common or nothing could be compared, if `ignored` has an unknown key, and if it makes two
// cells of a side equal.
std::unique_ptr<Comparison> compare(Side a, Side b, const ComparisonOptions& options);

// Returns the comparison in at most 80 columns. `all` also prints phases with the verdict `same` or `unsure`, and every
// cell that only one side has.
std::string comparison_text(const Comparison& comparison, bool all, bool colours);
std::string comparison_markdown(const Comparison& comparison, bool all);
std::string comparison_json(const Comparison& comparison);

}  // namespace allocbench::front
