// This file makes the table for stdout, with one row per cell in the order of the config, one column per axis and
// phase, and the throughput. A table that is wider than the terminal becomes several.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "harness/front/common/terminal.hpp"
#include "harness/front/common/units.hpp"
#include "harness/front/results/results.hpp"
#include "protocol/parameter_values.hpp"

namespace allocbench::front {
namespace {

void add_missing(std::vector<std::string>& list, const std::string& name) {
  if (std::find(list.begin(), list.end(), name) == list.end()) list.push_back(name);
}

// Returns the phases to show. If there is only one phase, a total would repeat its time.
std::vector<std::string> shown_phases(const Results& results) {
  std::vector<std::string> phases;
  for (const CellResult& result : results.cells) {
    for (const PhaseResult& phase : result.phases) {
      if (phase.name != "total" || result.phases.size() != 2) add_missing(phases, phase.name);
    }
  }
  return phases;
}

constexpr std::string_view provisional_mark = "~";

// Returns the time with half the width of its interval in percent, which shows how reliable the time is.
std::string time_text(const PhaseResult& phase) {
  std::string text = format_seconds(phase.time.centre);
  if (const auto half = phase.time.relative_half_width())
    text += fmt::format(" ±{:.{}f}%", 100 * *half, *half < 0.1 ? 1 : 0);
  return text + (phase.throttled.empty() ? "" : " throttled");
}

std::string axis_text(const std::string& name, const ParameterValue& value) {
  const auto* integer = std::get_if<std::uint64_t>(&value);
  return integer != nullptr && name.ends_with("bytes") ? format_bytes(*integer) : to_text(value);
}

std::vector<std::string> row_of(const CellResult& result, const std::vector<std::string>& axes,
                                const std::vector<std::string>& phases) {
  std::vector<std::string> row = {result.cell.label};
  for (const std::string& axis : axes) {
    const ParameterValue* value = protocol::find_value(result.cell.axes, axis);
    row.push_back(value == nullptr ? "" : axis_text(axis, *value));
  }
  if (result.status() != Status::ok) {
    row.emplace_back(word(result.status()));
    return row;
  }
  const std::string_view mark = result.provisional ? provisional_mark : "";
  const PhaseResult* total = nullptr;
  for (const std::string& name : phases) {
    std::string text;
    for (const PhaseResult& phase : result.phases) {
      if (phase.name == name) text = fmt::format("{}{}", mark, time_text(phase));
      if (phase.name == "total") total = &phase;
    }
    row.push_back(text);
  }
  const auto throughput = total == nullptr ? std::nullopt : total->throughput();
  row.push_back(throughput ? fmt::format("{}{}", mark, format_rate(*throughput)) : "");
  return row;
}

std::string summary(const Results& results) {
  std::map<Status, std::size_t> counts;
  bool has_provisional = false;
  for (const CellResult& result : results.cells) {
    ++counts[result.status()];
    has_provisional = has_provisional || result.provisional;
  }
  std::string below;
  if (has_provisional) {
    below = fmt::format("{} provisional: fewer than {} rounds\n", provisional_mark, least_rounds_of_numbers);
  }
  std::string text = counted(results.cells.size() + results.not_measured, "cell");
  for (const auto& [status, count] : counts) text += fmt::format(", {} {}", count, word(status));
  return below + folded(text + what_is_missing(results), columns_of_stdout(), 2);
}

constexpr std::size_t most_reasons = 8;

// A cell that is not ok has a reason. Returns one line for each different reason, the most frequent first, and at most
// `most_reasons` + 1 lines, because there may be as many reasons as cells.
std::string reasons_text(const Results& results, const std::vector<const CellResult*>& cells) {
  struct Group {
    Status status;
    std::string reason;
    std::size_t count;
    std::string first;
  };
  std::vector<Group> groups;
  for (const CellResult* cell : cells) {
    const std::string reason = cell->cell.end->short_reason();
    if (cell->status() == Status::ok || reason.empty()) continue;
    const auto same = std::ranges::find_if(
        groups, [&](const Group& each) { return each.status == cell->status() && each.reason == reason; });
    if (same != groups.end()) {
      ++same->count;
    } else {
      groups.push_back({cell->status(), reason, 1, cell_name(results.figure, cell->cell)});
    }
  }
  std::ranges::stable_sort(groups, std::ranges::greater(), &Group::count);
  std::string text;
  const std::size_t shown = groups.size() <= most_reasons + 1 ? groups.size() : most_reasons;
  for (std::size_t i = 0; i < shown; ++i) {
    const Group& each = groups[i];
    const std::string count = each.count == 1 ? "" : fmt::format("{}, first ", counted(each.count, "cell"));
    text += fmt::format("{}: {} ({}{})\n", word(each.status), each.reason, count, each.first);
  }
  if (shown < groups.size()) text += fmt::format("... and {} more: see results.csv\n", groups.size() - shown);
  return text;
}

std::string caption_of(const Results& results) {
  const bool several_rounds = std::any_of(results.cells.begin(), results.cells.end(), [](const CellResult& result) {
    return !result.phases.empty() && result.phases.front().round_count > 1;
  });
  std::vector<std::string> counting;  // phases with operations
  for (const CellResult& result : results.cells) {
    for (const PhaseResult& phase : result.phases) {
      if (phase.operations > 0 && (phase.name != "total" || result.phases.size() == 1))
        add_missing(counting, phase.name);
    }
  }
  std::string text = fmt::format("{} on {}\n", results.figure, results.history.backend);
  text += folded(fmt::format("times: {} of the samples{}, ± half the 95 % interval", name_of(results.statistic),
                             several_rounds ? " of a round, median of the rounds" : ""),
                 columns_of_stdout(), 2);
  if (counting.empty()) return text;
  return text + fmt::format("throughput: operations of {} divided by their time\n", fmt::join(counting, " and "));
}

// Returns the cells in the order of the config, because the log has them in the order in which they began. Cells that
// the plan lacks come last.
std::vector<const CellResult*> in_order_of_plan(const Results& results) {
  std::map<std::string_view, std::size_t> places;
  for (const std::string& id : results.history.plan) places.emplace(id, places.size());
  const auto place_of = [&](const CellResult* result) {
    const auto place = places.find(result->cell.id);
    return place == places.end() ? places.size() : place->second;
  };
  std::vector<const CellResult*> cells;
  for (const CellResult& result : results.cells) cells.push_back(&result);
  std::ranges::stable_sort(cells, {}, place_of);
  return cells;
}

using Rows = std::vector<std::vector<std::string>>;

std::vector<std::size_t> widths_of(const Rows& rows) {
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (const auto& row : rows) {
    for (std::size_t column = 0; column < row.size(); ++column) {
      widths[column] = std::max(widths[column], printed_width(row[column]));
    }
  }
  return widths;
}

// Splits a wide table into several. Returns the columns of each: the first `keys` columns, then as many as fit.
std::vector<std::vector<std::size_t>> split(const std::vector<std::size_t>& widths, std::size_t keys,
                                            std::size_t room) {
  std::vector<std::size_t> beginning(keys);
  std::iota(beginning.begin(), beginning.end(), std::size_t{0});
  const auto width_of = [&](const std::vector<std::size_t>& columns) {
    std::size_t width = 0;
    for (const std::size_t column : columns) width += widths[column] + 2;
    return width - 2;
  };
  std::vector<std::vector<std::size_t>> tables = {beginning};
  for (std::size_t column = keys; column < widths.size(); ++column) {
    tables.back().push_back(column);
    if (tables.back().size() == keys + 1 || width_of(tables.back()) <= room) continue;
    tables.back().pop_back();
    tables.push_back(beginning);
    tables.back().push_back(column);
  }
  return tables;
}

// Returns one of the tables. The first `keys` columns identify the cell of a row.
std::string table_of(const std::vector<const CellResult*>& cells, const Rows& rows,
                     const std::vector<std::size_t>& columns, std::size_t keys, bool colours) {
  const std::vector<std::size_t> widths = widths_of(rows);
  std::string text;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool failed = i > 0 && cells[i - 1]->status() != Status::ok;
    std::string line;
    for (std::size_t place = 0; place < columns.size(); ++place) {
      // A failed cell has one word after its keys, in every table.
      const std::size_t source = failed && place >= keys ? place : columns[place];
      const std::string entry = source < rows[i].size() ? rows[i][source] : "";
      const std::size_t width = widths[columns[place]];
      // The first column is aligned left, the others right.
      line += place == 0 ? fmt::format("{:{}}", entry, width) : fmt::format("  {:>{}}", entry, width);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += colours && failed ? fmt::format("\x1b[31m{}\x1b[0m\n", line) : line + "\n";
  }
  return text;
}

}  // namespace

std::string results_table(const Results& results, bool colours) {
  std::vector<std::string> axes;
  for (const CellResult& result : results.cells) {
    for (const auto& [axis, value] : result.cell.axes) add_missing(axes, axis);
  }
  const std::vector<std::string> phases = shown_phases(results);
  std::vector<std::string> header = {"allocator"};
  header.insert(header.end(), axes.begin(), axes.end());
  header.insert(header.end(), phases.begin(), phases.end());
  if (!phases.empty()) header.emplace_back("throughput");
  if (phases.empty()) header.emplace_back("status");

  std::vector<std::vector<std::string>> rows = {header};
  const std::vector<const CellResult*> cells = in_order_of_plan(results);
  for (const CellResult* result : cells) rows.push_back(row_of(*result, axes, phases));
  std::string text = caption_of(results);
  const auto tables = split(widths_of(rows), 1 + axes.size(), columns_of_stdout());
  for (const auto& columns : tables) {
    if (tables.size() > 1) text += "\n";
    text += table_of(cells, rows, columns, 1 + axes.size(), colours);
  }
  return text + reasons_text(results, cells) + summary(results);
}

}  // namespace allocbench::front
