#include "harness/front/compare/families.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "harness/front/common/units.hpp"
#include "harness/front/compare/comparison_words.hpp"
#include "harness/front/statistics/statistics.hpp"

namespace allocbench::front {
namespace {

constexpr const char* families_title =
    "This card's times divided by those of the reference, by family of allocators and by workload: median, and range "
    "of "
    "the middle half of the cells";

double centre_of(const ComparedCell& cell, const ComparedPhase& phase) {
  return phase.stored ? phase.stored->time.centre : estimate(phase.rounds, cell.statistic, 0).centre;
}

std::optional<double> time_of(const ComparedCell& cell) {
  const auto total = std::find_if(cell.phases.begin(), cell.phases.end(),
                                  [](const ComparedPhase& phase) { return phase.name == "total"; });
  const auto phase = total != cell.phases.end() ? total : cell.phases.begin();
  if (phase == cell.phases.end()) return std::nullopt;
  const double time = centre_of(cell, *phase);
  return time > 0 ? std::optional(time) : std::nullopt;
}

std::string factor(double ratio) { return fmt::format("x{:.2f}", ratio); }

}  // namespace

std::string family_of(const std::string& allocator) { return allocator.substr(0, allocator.find('_')); }

std::vector<FamilyRatio> ratios_by_family(const Comparison& comparison) {
  std::map<std::pair<std::string, std::string>, std::vector<double>> ratios;
  for (const CellComparison& cell : comparison.cells) {
    const auto a = time_of(*cell.a);
    const auto b = time_of(*cell.b);
    if (!a || !b) continue;
    ratios[{"allocator", family_of(cell.a->definition.at("allocator"))}].push_back(*b / *a);
    ratios[{"workload", cell.a->definition.at("workload")}].push_back(*b / *a);
  }
  std::vector<FamilyRatio> families;
  for (auto& [key, values] : ratios) {
    families.push_back({key.first,
                        key.second,
                        values.size(),
                        quantile(values, 0.5),
                        {quantile(values, 0.25), quantile(values, 0.75)}});
  }
  return families;
}

std::string families_text(const std::vector<FamilyRatio>& families) {
  if (families.empty()) return "";
  std::string text = fmt::format("\n{}\n", families_title);
  for (const FamilyRatio& each : families) {
    text += fmt::format("  {:9}  {:24}  {:>7}  {:18}  {}\n", each.kind, each.name, factor(each.median),
                        fmt::format("[{}, {}]", factor(each.quartiles.low), factor(each.quartiles.high)),
                        counted(each.cells, "cell"));
  }
  return text;
}

std::string families_markdown(const std::vector<FamilyRatio>& families) {
  if (families.empty()) return "";
  std::string text =
      fmt::format("\n{}\n\n| family | | median | middle half | cells |\n|---|---|---:|---|---:|\n", families_title);
  for (const FamilyRatio& each : families) {
    text += fmt::format("| {} | {} | {} | [{}, {}] | {} |\n", each.kind, each.name, factor(each.median),
                        factor(each.quartiles.low), factor(each.quartiles.high), each.cells);
  }
  return text;
}

}  // namespace allocbench::front
