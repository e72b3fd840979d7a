// This file prints the comparison on a terminal of 80 columns.
#include <fmt/format.h>

#include <algorithm>

#include "harness/front/common/terminal.hpp"
#include "harness/front/common/units.hpp"
#include "harness/front/compare/comparison_words.hpp"

namespace allocbench::front {
namespace {

constexpr std::size_t columns = 80;
constexpr std::size_t most_names = 20;  // largest number of shown cells that only one side has

// Labels that differ only in a parameter differ at their ends, so a long label is cut in its middle.
std::string shortened(const std::string& name, std::size_t width) {
  if (printed_width(name) <= width) return name;
  const std::size_t half = (width - 2) / 2;
  return name.substr(0, half) + ".." + name.substr(name.size() - half);
}

std::string summary(const Comparison& comparison) {
  auto rows = counts_by_allocator(comparison);
  VerdictCounts all;
  std::size_t widest = 9;
  for (const auto& [name, counts] : rows) {
    for (std::size_t i = 0; i < counts.phases.size(); ++i) all.phases[i] += counts.phases[i];
    all.worse += counts.worse;
    all.better += counts.better;
    widest = std::max(widest, printed_width(name));
  }
  widest = std::min(widest, columns - 6 * 8);
  if (rows.size() > 1) rows.emplace_back("all", all);
  std::string text = fmt::format("{:{}}  slower  faster    same  unsure  broken  mended\n", "allocator", widest);
  for (const auto& [name, counts] : rows) {
    text += fmt::format("{:{}}  {:6}  {:6}  {:6}  {:6}  {:6}  {:6}\n", shortened(name, widest), widest,
                        counts.of(Verdict::slower), counts.of(Verdict::faster), counts.of(Verdict::same),
                        counts.of(Verdict::unsure), counts.worse, counts.better);
  }
  return text;
}

std::string phase_line(const CellComparison& cell, const PhaseComparison& phase) {
  std::string line = fmt::format("  {:10}  {:>8} -> {:>8}", phase.phase, format_seconds(phase.a.centre),
                                 format_seconds(phase.b.centre));
  if (!phase.effect) {
    const std::string provisional = provisional_text(cell);
    return line + (provisional.empty() ? "" : "  " + provisional) + "\n";
  }
  return line + fmt::format("  {:>7}  {}\n", change_text(phase.effect->ratio), interval_text(phase.effect->interval));
}

std::string section(const Comparison& comparison, Verdict verdict, const char* colour) {
  std::string text;
  for (const CellComparison& cell : comparison.cells) {
    bool named = false;
    for (const PhaseComparison& phase : cell.phases) {
      if (phase.verdict != verdict) continue;
      if (!named) text += folded(shown_name(comparison, *cell.a), columns, 4);
      named = true;
      text += phase_line(cell, phase);
    }
  }
  if (text.empty()) return text;
  std::string title = fmt::format("{}: {}", word(verdict), counted(comparison.count(verdict), "phase"));
  title[0] = static_cast<char>(title[0] - 'a' + 'A');
  if (*colour != '\0') title = fmt::format("\x1b[{}m{}\x1b[0m", colour, title);
  return fmt::format("\n{}\n{}", title, text);
}

std::string status_changes(const Comparison& comparison) {
  std::string text;
  for (const CellComparison& cell : comparison.cells) {
    if (!cell.status_changed()) continue;
    std::string line =
        fmt::format("{}: {} -> {}", shown_name(comparison, *cell.a), status_text(*cell.a), status_text(*cell.b));
    const std::string& reason = cell.b->status == Status::ok ? cell.a->reason : cell.b->reason;
    if (!reason.empty()) line += fmt::format(" ({})", reason);
    text += folded(line, columns, 4);
  }
  return text.empty() ? text : "\nChanged status\n" + text;
}

std::string names(const Comparison& comparison, const std::vector<const ComparedCell*>& cells, const char* side,
                  bool all) {
  if (cells.empty()) return "";
  std::string text = fmt::format("\nOnly in {}: {}\n", side, counted(cells.size(), "cell"));
  const std::size_t shown = all ? cells.size() : std::min(cells.size(), most_names);
  for (std::size_t i = 0; i < shown; ++i) {
    const ComparedCell& cell = *cells[i];
    const bool plain = cell.status == Status::ok && !cell.provisional;
    const std::string_view beside = cell.provisional ? "provisional" : word(cell.status);
    text += folded(shown_name(comparison, cell) + (plain ? "" : fmt::format(" ({})", beside)), columns, 4);
  }
  return shown == cells.size() ? text : text + fmt::format("    and {} more; --all lists them\n", cells.size() - shown);
}

}  // namespace

std::string comparison_text(const Comparison& comparison, bool all, bool colours) {
  std::string text = folded(fmt::format("A  {}", comparison.a.argument), columns, 3) +
                     folded("   " + origin(comparison.a), columns, 3) +
                     folded(fmt::format("B  {}", comparison.b.argument), columns, 3) +
                     folded("   " + origin(comparison.b), columns, 3);
  for (const std::string& warning : warnings(comparison)) text += folded(warning, columns, 3);
  text += "\n" + summary(comparison);
  text += section(comparison, Verdict::slower, colours ? "31" : "");
  text += section(comparison, Verdict::faster, colours ? "32" : "");
  if (all) text += section(comparison, Verdict::same, "") + section(comparison, Verdict::unsure, "");
  text += status_changes(comparison);
  text += names(comparison, comparison.only_in_a, "A", all) + names(comparison, comparison.only_in_b, "B", all);
  text += "\n" + folded(legend(comparison), columns, 0);
  for (const auto& [reason, count] : reasons_for_unsure(comparison)) {
    text += folded(fmt::format("  {} unsure: {}", count, reason), columns, 4);
  }
  return text + folded(conclusion(comparison), columns, 0);
}

}  // namespace allocbench::front
