// A config: one figure or table as data. Reading it checks everything that can be checked without a device.
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
  std::uint64_t repetitions = 5;   // samples of a round, at most
  std::uint64_t rounds = 1;        // at most
  std::uint64_t least_rounds = 0;  // before precision may end the cell; 0 = not given
  double precision = 0.013;        // half the interval, as a share of the time
  double wall_bound_seconds = 10;  // of all rounds
  double deadline_seconds = 60;    // of one round
};

// What one measurement takes besides its allocator. A config sets it once, `overrides` change parts for one allocator.
struct Settings : Effort {
  ParameterValues workload_parameters;
  std::uint64_t pool_bytes = 0;
  protocol::CellSettings cell = {.aged_rounds = 1000, .warmups = 1};  // but for the seed, which the config has
};

// Times of the CPU executor are never shown as performance: one round shows that everything works.
inline std::uint64_t default_rounds(std::string_view backend) { return backend == "cpu" ? 1 : 20; }

struct AllocatorChoice {
  std::string id;
  std::string label;           // unique in the config: names series
  ParameterValues parameters;  // complete: defaults are filled in
  Settings settings;           // with this allocator's overrides
};

// One swept parameter: of the workload, `pool_bytes`, or `allocator.<parameter>`.
struct Axis {
  std::string name;
  std::string pointer;
  std::vector<ParameterValue> values;
};

// Axes that advance together. A plain axis is a group of one; all values of a group are equally many.
struct AxisGroup {
  std::vector<Axis> axes;
  std::size_t size() const { return axes.front().values.size(); }
};

// A cell is left out when each named axis (or `allocator`) has one of the values.
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
  std::string pool;  // "fit": its size is the device's matter too
  std::uint64_t seed = 1;
  std::string trace;                       // folder for a trace of the only cell; empty: none
  std::uint64_t trace_calls = 1ull << 20;  // of a kernel that its buffers hold
  std::string x_axis;                      // plot.x, when that is an axis
  bool verifies_fully = false;             // whatever it takes: the plot or a claim shows what the verification counts
  bool only_draws = false;  // a plot of other configs' results: nothing to measure, and the rest is empty
  Document effective;       // after back-end overrides and command line, as stored in the event log
};

// What the command line may change in a config.
struct ConfigChanges {
  std::optional<double> deadline_seconds = {};
  std::optional<std::uint64_t> seed = {};
  bool full = false;                               // with the section `full`
  bool verifies_fully = false;                     // the contents of all blocks, whatever that takes
  std::optional<std::uint64_t> memory_bytes = {};  // of the device, for pools that fit
};

// The config with the sections of the back end and of --full merged into it and the changes of the command line
// applied.
nlohmann::ordered_json merged_config(const nlohmann::ordered_json& document, std::string_view backend,
                                     const ConfigChanges& changes);
// The same, with the ids of sets of allocators in place of the sets.
nlohmann::ordered_json effective_config(const nlohmann::ordered_json& document, std::string_view backend,
                                        const ConfigChanges& changes);

// What an entry of `allocators` stands for: the ids of a set with its parameters, or the entry itself.
std::vector<nlohmann::ordered_json> entries_of(const nlohmann::ordered_json& entry);

// What the workers of both back ends can run. `other` is null where the other worker is not built: then names that only
// the other back end's part of the config uses cannot be judged.
struct Catalogues {
  const Catalogue& chosen;
  const Catalogue* other = nullptr;
};

// Reads and checks all parts, those of the other back end too; with problems the result is incomplete and must not be
// run.
Config read_config(std::string_view text, const std::string& path, const Catalogues& catalogues,
                   const ConfigChanges& changes, Problems& problems);

}  // namespace allocbench::front
