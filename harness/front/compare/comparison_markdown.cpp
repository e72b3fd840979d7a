// This file prints the comparison as Markdown, for a report or for a comment on a change of code.
#include <fmt/format.h>

#include <boost/algorithm/string/replace.hpp>

#include "harness/front/common/units.hpp"
#include "harness/front/compare/comparison_words.hpp"

namespace allocbench::front {
namespace {

// Names and reasons may contain characters that end a table cell.
std::string escaped(const std::string& text) { return boost::replace_all_copy(text, "|", "\\|"); }

std::string summary_paragraph(const Comparison& comparison) {
  std::string text =
      "| allocator | slower | faster | same | unsure | broken | mended |\n|---|---:|---:|---:|---:|---:|---:|\n";
  for (const auto& [name, counts] : counts_by_allocator(comparison)) {
    text += fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", escaped(name), counts.of(Verdict::slower),
                        counts.of(Verdict::faster), counts.of(Verdict::same), counts.of(Verdict::unsure), counts.worse,
                        counts.better);
  }
  return text;
}

std::string phase_tables(const Comparison& comparison, bool all) {
  std::string rows;
  for (const Verdict verdict : {Verdict::slower, Verdict::faster, Verdict::unsure, Verdict::same}) {
    if (!all && (verdict == Verdict::same || verdict == Verdict::unsure)) continue;
    for (const CellComparison& cell : comparison.cells) {
      for (const PhaseComparison& phase : cell.phases) {
        if (phase.verdict != verdict) continue;
        rows +=
            fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", escaped(shown_name(comparison, *cell.a)), phase.phase,
                        format_seconds(phase.a.centre), format_seconds(phase.b.centre),
                        phase.effect ? change_text(phase.effect->ratio) : "",
                        phase.effect ? interval_text(phase.effect->interval) : provisional_text(cell), word(verdict));
      }
    }
  }
  if (rows.empty()) return rows;
  return "\n| cell | phase | A | B | change | 95 % interval | verdict |\n|---|---|---:|---:|---:|---|---|\n" + rows;
}

std::string status_list(const Comparison& comparison) {
  std::string rows;
  for (const CellComparison& cell : comparison.cells) {
    if (!cell.status_changed()) continue;
    rows += fmt::format("| {} | `{}` | `{}` | {} |\n", escaped(shown_name(comparison, *cell.a)), status_text(*cell.a),
                        status_text(*cell.b), escaped(cell.b->status == Status::ok ? cell.a->reason : cell.b->reason));
  }
  return rows.empty() ? rows : "\n| cell | A | B | reason |\n|---|---|---|---|\n" + rows;
}

std::string name_list(const Comparison& comparison, const std::vector<const ComparedCell*>& cells, const char* side) {
  if (cells.empty()) return "";
  std::string text = fmt::format("\nOnly in {} ({}):\n\n", side, counted(cells.size(), "cell"));
  for (const ComparedCell* cell : cells) text += fmt::format("* {}\n", shown_name(comparison, *cell));
  return text;
}

}  // namespace

std::string comparison_markdown(const Comparison& comparison, bool all) {
  std::string text =
      fmt::format("**{}**\n\n* A: `{}` ({})\n* B: `{}` ({})\n", conclusion(comparison), comparison.a.argument,
                  origin(comparison.a), comparison.b.argument, origin(comparison.b));
  for (const std::string& warning : warnings(comparison)) text += fmt::format("* {}\n", warning);
  text += "\n" + summary_paragraph(comparison) + phase_tables(comparison, all) + status_list(comparison);
  text += name_list(comparison, comparison.only_in_a, "A") + name_list(comparison, comparison.only_in_b, "B");
  return text + "\n" + legend(comparison) + "\n";
}

}  // namespace allocbench::front
