// The plan has the cells of a config, grouped into batches, in the order of the config. It is a pure function of the
// config and the catalogue.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "harness/front/common/problems.hpp"
#include "harness/front/config/catalogue.hpp"
#include "harness/front/config/config.hpp"
#include "harness/front/plan/cell.hpp"
#include "harness/front/statistics/rounds.hpp"

namespace allocbench::front {

struct Cell : CellDescription, Effort {
  std::string name;  // figure/label/axis:value/..., which --filter matches and results.json shows
  std::string statistic;
  std::uint64_t least_long_rounds = least_rounds_of_numbers;  // a long sample ends the cell after so many rounds
  std::optional<double> growth;  // value on the primary axis if it is a number; it orders the cells of a series
  // Whether the primary axis changes only the pool. A larger pool does not demand more of the allocator.
  bool grows_pool = false;
  protocol::CellSettings settings;  // all settings; CellDescription has some of them as words
  bool verifies_fully = false;      // whether the verification of contents has no time limit
  std::string trace;                // folder for a trace, relative to the working directory; empty: no trace
  std::uint64_t trace_calls = 0;
};

// Cells with the same allocator, parameters and pool.
struct Batch {
  std::string allocator;
  std::string plugin;  // plug-in of the allocator; empty: unknown
  std::string label;
  ParameterValues allocator_parameters;
  std::uint64_t pool_bytes = 0;
  bool pool_is_device_heap = false;
  bool has_heap_share = false;  // whether a part of pool_bytes lies in the device heap, for requests that the rest of
                                // the pool does not serve
  bool fresh_by_process = false;
  bool keeps_device_heap = false;  // whether the allocator keeps memory of the device heap when all blocks are freed
  std::vector<Cell> cells;

  // Returns whether the cell needs its own process. In a batch with a share of the device heap, only cells that use the
  // share need one. The worker reports this use.
  bool isolates(const Cell& cell) const { return fresh_by_process && (keeps_device_heap || cell.state == "fresh"); }
};

struct Plan {
  std::string figure;
  std::string backend;
  std::uint64_t seed = 1;
  std::vector<Batch> batches;

  std::size_t cell_count() const;
};

// Makes the plan. Adds a problem if the config describes no cell, the same cell twice, or more cells, samples or
// batches than limits.hpp allows. If there are problems already, or too many cells, the plan is empty.
Plan make_plan(const Config& config, const Catalogue& catalogue, Problems& problems);

// Throws UsageError if a trace would be recorded from several cells.
void require_one_traced_cell(const Plan& plan, const std::string& trace);

// Keeps the cells whose name matches the regular expression. Throws UsageError for an invalid expression or an empty
// result.
void filter_plan(Plan& plan, const std::string& expression);
// Keeps the cells with these ids, possibly none.
void keep_cells(Plan& plan, const std::set<std::string>& ids);

// Returns the order of `count` items in a round. The first round has the config's order, which readers expect. Later
// rounds have a seeded random order, so that a drift of clocks or temperature affects all items in the same way.
std::vector<std::size_t> order_of_round(std::size_t count, std::uint64_t seed, std::uint64_t round);

}  // namespace allocbench::front
