#include "harness/front/compare/side.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "harness/front/common/errors.hpp"
#include "harness/front/results/run_files.hpp"
#include "harness/front/results/stored_results.hpp"
#include "harness/front/statistics/rounds.hpp"

namespace allocbench::front {
namespace {

ComparedCell compared(const Results& results, const CellResult& result) {
  const CellHistory& cell = result.cell;
  ComparedCell made;
  made.id = cell.id;
  made.name = cell_name(results.figure, cell);
  made.allocator = cell.label;
  made.backend = cell.backend;
  made.statistic = results.statistic;
  made.status = result.status();
  made.reason = cell.end->short_reason();
  made.provisional = result.provisional;
  for (const PhaseResult& phase : result.phases) {
    ComparedPhase& of_side = made.phases.emplace_back(ComparedPhase{phase.name, phase.rounds});
    if (phase.rounds.empty()) of_side.stored = StoredTime{phase.time, phase.round_count};
  }
  made.definition = {{"allocator", cell.allocator},
                     {"workload", cell.workload},
                     {"pool_bytes", std::to_string(cell.pool_bytes)},
                     {"backend", cell.backend},
                     {"seed", std::to_string(cell.seed)},
                     {"state", cell.state},
                     {"l2", cell.l2}};
  if (cell.aged_rounds) made.definition["aged_rounds"] = std::to_string(*cell.aged_rounds);
  for (const auto& [name, value] : cell.allocator_parameters) made.definition["allocator/" + name] = to_text(value);
  for (const auto& [name, value] : cell.workload_parameters) made.definition["workload/" + name] = to_text(value);
  return made;
}

std::size_t fewest_rounds(const ComparedCell& cell) {
  std::size_t fewest = least_rounds_of_numbers;
  for (const ComparedPhase& phase : cell.phases) fewest = std::min(fewest, phase.round_count());
  return fewest;
}

// Kept results have seven digits.
bool is_near(double a, double b) { return std::abs(a - b) <= 1e-6 * std::abs(a); }

// Returns whether both are the same round. Results that were kept without samples have only a value of each round.
bool is_same_round(const std::vector<double>& one, const std::vector<double>& two, Statistic statistic) {
  if (one.size() == two.size()) return std::equal(one.begin(), one.end(), two.begin(), is_near);
  if (one.size() != 1 && two.size() != 1) return false;
  return is_near(values_of({one}, statistic).front(), values_of({two}, statistic).front());
}

bool begins_with(const Rounds& longer, const Rounds& shorter, Statistic statistic) {
  return longer.size() >= shorter.size() &&
         std::equal(shorter.begin(), shorter.end(), longer.begin(),
                    [statistic](const auto& one, const auto& two) { return is_same_round(one, two, statistic); });
}

// Returns whether `other` has the samples of the same run, which it may have in full or in part. Such copies exist, for
// example, if the side contains a merged run and its shards.
bool is_copy(const ComparedCell& cell, const ComparedCell& other) {
  return !cell.phases.empty() && cell.phases.size() == other.phases.size() &&
         std::equal(cell.phases.begin(), cell.phases.end(), other.phases.begin(),
                    [&cell](const ComparedPhase& one, const ComparedPhase& two) {
                      if (one.name != two.name || one.stored || two.stored) return false;
                      return begins_with(one.rounds, two.rounds, cell.statistic) ||
                             begins_with(two.rounds, one.rounds, cell.statistic);
                    });
}

// Adds the rounds of a second run of the same cell, unless it is a copy of the first. A cell that failed in one of the
// runs counts as failed.
void merge(ComparedCell& into, ComparedCell&& other) {
  if (into.status != Status::ok) return;
  if (other.status != Status::ok) {
    into = std::move(other);
    return;
  }
  if (is_copy(into, other)) {
    if (other.phases.front().round_count() > into.phases.front().round_count()) into = std::move(other);
    return;
  }
  for (ComparedPhase& phase : other.phases) {
    const auto same = std::find_if(into.phases.begin(), into.phases.end(),
                                   [&](const ComparedPhase& each) { return each.name == phase.name; });
    if (same == into.phases.end()) {
      into.phases.push_back(std::move(phase));
    } else if (same->stored || phase.stored) {  // these rounds cannot be combined
      if (phase.round_count() > same->round_count()) *same = std::move(phase);
    } else {
      same->rounds.insert(same->rounds.end(), phase.rounds.begin(), phase.rounds.end());
    }
  }
  into.provisional =
      into.provisional && other.provisional && is_provisional(fewest_rounds(into), least_rounds_of_numbers);
}

// Adds what the log records about the origin of its numbers. A log may lack some of these facts.
void add_origin(Side& side, const Origin& origin) {
  const auto add = [](std::set<std::string>& set, const std::string& text) {
    if (!text.empty()) set.insert(text);
  };
  add(side.devices, origin.device);
  add(side.cards, origin.device_uuid);
  add(side.drivers, origin.driver_version);
  add(side.revisions, origin.sources.revision);
  side.dirty = side.dirty || origin.sources.dirty.value_or(false);
}

}  // namespace

std::vector<Results> read_runs(const std::string& argument) {
  std::vector<Results> runs;
  for (const std::filesystem::path& file : run_files(argument)) {
    runs.push_back(read_run(file.string()));
  }
  return runs;
}

Side side_of(const std::string& argument, const std::vector<Results>& runs, const std::string& to_continue) {
  Side side{.argument = argument};
  std::map<std::string, std::size_t> places;
  for (const Results& results : runs) {
    side.figures.insert(results.figure);
    side.not_measured += results.not_measured;
    for (const CellResult& result : results.cells) {
      if (result.cell.end->left_out) {  // there was no time or no memory for the cell
        ++side.not_measured;
        continue;
      }
      add_origin(side, result.cell.origin);
      ComparedCell cell = compared(results, result);
      const auto [place, added] = places.emplace(cell.id, side.cells.size());
      if (added) {
        side.cells.push_back(std::move(cell));
      } else {
        merge(side.cells[place->second], std::move(cell));
      }
    }
  }
  if (side.cells.empty()) throw UsageError(fmt::format("No cell of {} was measured. {}", argument, to_continue));
  return side;
}

}  // namespace allocbench::front
