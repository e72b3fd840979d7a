// A config describes one figure or table as data. Reading a config checks everything that can be checked without a
// device.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/front/common/json_text.hpp"
#include "harness/front/common/problems.hpp"
#include "harness/front/config/catalogue.hpp"
#include "protocol/command.hpp"
#include "protocol/parameter.hpp"

namespace allocbench::front {

// How often, how exactly and how long a cell is measured.
struct Effort {
  std::uint64_t repetitions = 5;   // largest number of samples per round
  std::uint64_t rounds = 1;        // largest number of rounds
  std::uint64_t least_rounds = 0;  // least number of rounds before precision may end the cell; 0: not given
  double precision = 0.013;        // wanted half width of the interval, as a share of the time
  double wall_bound_seconds = 10;  // wall time of the cell's rounds after which no further round begins
  double deadline_seconds = 60;    // deadline of one round
};

// The settings of a measurement apart from its allocator. A config sets them once, and `overrides` change some for one
// allocator.
struct Settings : Effort {
  ParameterValues workload_parameters;
  std::uint64_t pool_bytes = 0;
  protocol::CellSettings cell = {.aged_rounds = 1000, .warmups = 1};  // settings of the cell; the seed is in Config
};

// Times of the CPU executor are never shown as performance, so one round is enough to show that everything works.
inline std::uint64_t default_rounds(std::string_view backend) { return backend == "cpu" ? 1 : 20; }

struct AllocatorChoice {
  std::string id;
  std::string label;           // label of the series, unique in the config
  ParameterValues parameters;  // all parameters, with defaults filled in
  Settings settings;           // settings with this allocator's overrides
};

// One swept setting: a parameter of the workload, `pool_bytes`, `l2`, `state`, `aged_rounds`, or
// `allocator.<parameter>`.
struct Axis {
  std::string name;
  std::string pointer;
  std::vector<ParameterValue> values;
};

// Axes that advance together. A plain axis is a group of one axis. All axes of a group have the same number of values.
struct AxisGroup {
  std::vector<Axis> axes;
  std::size_t size() const { return axes.front().values.size(); }
};

// An exclusion removes the cells in which each named axis (or `allocator`) has one of the given values.
struct Exclusion {
  std::vector<std::pair<std::string, std::vector<ParameterValue>>> conditions;
};

struct Config {
  std::string name;
  std::string path;
  std::string backend;
  std::string workload;
  std::vector<AllocatorChoice> allocators;
  std::vector<AxisGroup> sweep;
  std::vector<Exclusion> exclusions;
  std::string statistic = "median";
  std::string pool;  // "fit": a pool larger than 3/4 of the device's memory is reduced; or empty
  std::uint64_t seed = 1;
  std::string trace;                       // folder for a trace of the config's only cell, or empty
  std::uint64_t trace_calls = 1ull << 20;  // capacity of the trace's buffers for one kernel
  std::string x_axis;                      // plot.x, if it is an axis
  // Whether the verification of contents has no time limit. It has none on the CPU back end, with --verify full, and if
  // the plot or a claim shows counts or histograms of untimed passes.
  bool verifies_fully = false;
  bool only_draws = false;  // whether it only plots other configs' results; then it measures nothing
  Document effective;       // config after back-end overrides and command line, as stored in the event log
};

// Changes of a config by the command line.
struct ConfigChanges {
  std::optional<double> deadline_seconds = {};
  std::optional<std::uint64_t> seed = {};
  bool full = false;            // whether the section `full` is used
  bool verifies_fully = false;  // whether the contents of all blocks are checked, without a time limit
  std::optional<std::uint64_t> memory_bytes = {};  // memory of the device, for pools that fit
};

// Returns the config after merging the sections of the back end and of --full and applying the changes of the command
// line.
nlohmann::ordered_json merged_config(const nlohmann::ordered_json& document, std::string_view backend,
                                     const ConfigChanges& changes);
// Returns the merged config. Sets of allocators are replaced by the ids in them.
nlohmann::ordered_json effective_config(const nlohmann::ordered_json& document, std::string_view backend,
                                        const ConfigChanges& changes);

// Returns the entries that an entry of `allocators` stands for: the ids of a set with its parameters, or the entry
// itself.
std::vector<nlohmann::ordered_json> entries_of(const nlohmann::ordered_json& entry);

// The catalogues of the workers of both back ends. `other` is null if the other worker is not built or does not answer.
// Then names that only the other back end's part of the config uses cannot be checked.
struct Catalogues {
  const Catalogue& chosen;
  const Catalogue* other = nullptr;
};

// Reads and checks all parts, including those of the other back end. If there are problems, the result is incomplete
// and must not be run.
Config read_config(std::string_view text, const std::string& path, const Catalogues& catalogues,
                   const ConfigChanges& changes, Problems& problems);

}  // namespace allocbench::front
