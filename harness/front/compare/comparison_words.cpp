#include "harness/front/compare/comparison_words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "harness/front/common/units.hpp"

namespace allocbench::front {
namespace {

std::string listed(const std::set<std::string>& texts, const char* several) {
  if (texts.size() > 3) return fmt::format("{} {}", texts.size(), several);
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string percent(double ratio) { return fmt::format("{:+.1f} %", 100 * (ratio - 1)); }

}  // namespace

std::vector<std::pair<std::string, VerdictCounts>> counts_by_allocator(const Comparison& comparison) {
  std::vector<std::pair<std::string, VerdictCounts>> counts;
  for (const CellComparison& cell : comparison.cells) {
    auto place =
        std::find_if(counts.begin(), counts.end(), [&](const auto& each) { return each.first == cell.a->allocator; });
    if (place == counts.end()) place = counts.insert(counts.end(), {cell.a->allocator, {}});
    for (const PhaseComparison& phase : cell.phases) ++place->second.phases[static_cast<std::size_t>(phase.verdict)];
    place->second.worse += cell.worse_status() ? 1 : 0;
    place->second.better += cell.status_changed() && cell.b->status == Status::ok ? 1 : 0;
  }
  return counts;
}

std::map<std::string, std::size_t> reasons_for_unsure(const Comparison& comparison) {
  std::map<std::string, std::size_t> reasons;
  for (const CellComparison& cell : comparison.cells) {
    for (const PhaseComparison& phase : cell.phases) {
      if (phase.verdict == Verdict::unsure) ++reasons[phase.reason];
    }
  }
  return reasons;
}

std::string shown_name(const Comparison& comparison, const ComparedCell& cell) {
  const bool one_figure = comparison.a.figures.size() == 1 && comparison.a.figures == comparison.b.figures;
  return one_figure ? cell.name.substr(comparison.a.figures.begin()->size() + 1) : cell.name;
}

std::string status_text(const ComparedCell& cell) {
  return fmt::format("{}{}", word(cell.status), cell.provisional ? " (provisional)" : "");
}

std::string provisional_text(const CellComparison& cell) {
  if (!cell.a->provisional && !cell.b->provisional) return "";
  const char* const sides = !cell.b->provisional ? "A" : !cell.a->provisional ? "B" : "A and B";
  return fmt::format("provisional: {}", sides);
}

std::string change_text(double ratio) {
  return ratio >= 2 || ratio <= 0.5 ? fmt::format("x{:.3g}", ratio) : percent(ratio);
}

std::string interval_text(const Interval& interval) {
  const bool factors = interval.high >= 2 || interval.low <= 0.5;
  return factors ? fmt::format("[x{:.3g}, x{:.3g}]", interval.low, interval.high)
                 : fmt::format("[{}, {}]", percent(interval.low), percent(interval.high));
}

std::string origin(const Side& side) {
  return fmt::format("{} on {}, {}{}", listed(side.figures, "figures"), listed(side.devices, "devices"),
                     side.revisions.size() == 1 ? "revision " : "", listed(side.revisions, "revisions"));
}

std::vector<std::string> warnings(const Comparison& comparison) {
  std::vector<std::string> lines;
  const Side& a = comparison.a;
  const Side& b = comparison.b;
  if (a.devices != b.devices) {
    lines.emplace_back("The two sides were measured on different devices, which may explain differences.");
  } else if (a.cards != b.cards) {
    lines.emplace_back(
        "The two sides were measured on different cards of one model, which may explain small differences.");
  }
  if (a.drivers != b.drivers) lines.emplace_back("The two sides were measured with different drivers.");
  for (const auto& [name, side] : {std::pair{"A", &a}, std::pair{"B", &b}}) {
    if (side->dirty) lines.push_back(fmt::format("{} was measured with uncommitted changes.", name));
    if (side->not_measured > 0)
      lines.push_back(fmt::format("{} has {} not measured yet.", name, counted(side->not_measured, "cell")));
  }
  if (const std::size_t count = comparison.from_intervals()) {
    lines.push_back(fmt::format("{} of {} verdicts use stored intervals, because a side was kept without samples.",
                                count, comparison.tested()));
  }
  return lines;
}

std::string legend(const Comparison& comparison) {
  const double margin = 100 * comparison.margin;
  return fmt::format(
      "slower, faster: the difference exceeds {:.3g} % and is probably not chance (Holm: the chance of a false alarm "
      "in "
      "{} tests is at most 5 %); same: 95 % interval within {:.3g} %; unsure: neither; broken: ok in A only; mended: "
      "ok "
      "in B only.",
      margin, comparison.tested(), margin);
}

std::string conclusion(const Comparison& comparison) {
  const std::string missing =
      comparison.missing.empty()
          ? ""
          : fmt::format(" B lacks {} that {} ok in A, or has too few rounds of {}.",
                        counted(comparison.missing.size(), "cell"), comparison.missing.size() == 1 ? "is" : "are",
                        comparison.missing.size() == 1 ? "it" : "them");
  if (!comparison.regression()) {
    const bool is_decided =
        comparison.count(Verdict::same) + comparison.count(Verdict::faster) + comparison.count(Verdict::slower) > 0;
    if (!is_decided) return "Nothing could be decided: every phase is unsure." + missing;
    return missing.empty() ? "No regression." : "The cells that both sides measured show no regression." + missing;
  }
  std::vector<std::string> parts;
  if (const std::size_t slower = comparison.count(Verdict::slower)) {
    parts.push_back(counted(slower, "phase") + " slower");
  }
  if (const std::size_t worse = comparison.worse_statuses()) {
    parts.push_back(counted(worse, "cell") + " no longer ok");
  }
  return fmt::format("Regression: {}.{}", fmt::join(parts, ", "), missing);
}

}  // namespace allocbench::front
