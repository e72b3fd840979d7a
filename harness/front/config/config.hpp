// A config: one figure or table as data. Reading it checks everything that can be checked without a device.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/front/common/problems.hpp"
#include "harness/front/config/catalogue.hpp"
#include "harness/front/config/value.hpp"

namespace allocbench::front {

// What one measurement takes besides its allocator. A config sets it once, `overrides` change parts for one allocator.
struct Settings {
  NamedValues workload_parameters;
  std::uint64_t pool_bytes = 0;
  std::string pool_pointer;  // where the config sets pool_bytes, for complaints that need the device
  std::uint64_t repetitions = 5;
  std::uint64_t warmups = 1;
  std::uint64_t counted_passes = 1;
  std::string state = "fresh";
  double deadline_seconds = 60;
};

struct AllocatorChoice {
  std::string id;
  std::string label;       // unique in the config: names series
  NamedValues parameters;  // complete: defaults are filled in
  Settings settings;       // with this allocator's overrides
};

// One swept parameter: of the workload, `pool_bytes`, or `allocator.<parameter>`.
struct Axis {
  std::string name;
  std::string pointer;
  std::vector<Value> values;
};

// Axes that advance together. A plain axis is a group of one; all values of a group are equally many.
struct AxisGroup {
  std::vector<Axis> axes;
  std::size_t size() const { return axes.front().values.size(); }
};

// A cell is left out when each named axis (or `allocator`) has one of the values.
struct Exclusion {
  std::vector<std::pair<std::string, std::vector<Value>>> conditions;
};

struct Config {
  std::string name;
  std::string path;
  std::string backend;
  std::string workload;
  std::vector<AllocatorChoice> allocators;
  std::vector<AxisGroup> sweep;
  std::vector<Exclusion> exclusions;
  std::uint64_t rounds = 1;
  std::string statistic = "median";
  std::uint64_t seed = 1;
  std::string x_axis;          // plot.x, when that is an axis
  bool only_draws = false;     // a plot of other configs' results: nothing to measure, and the rest is empty
  std::string effective_text;  // the JSON after back-end overrides and command line, as stored in the event log
};

// What the command line may change in a config.
struct ConfigChanges {
  std::optional<double> deadline_seconds = {};
  std::optional<std::uint64_t> seed = {};
};

// The config with the back end's section merged into it and the changes of the command line applied.
nlohmann::ordered_json effective_config(const nlohmann::ordered_json& document, std::string_view backend,
                                        const ConfigChanges& changes);

// Reads and checks; with problems the result is incomplete and must not be run.
Config read_config(std::string_view text, const std::string& path, const Catalogue& catalogue,
                   const ConfigChanges& changes, Problems& problems);

// A config's own scalar keys, described like parameters: checked, printed and overridden by the same code.
const std::vector<Parameter>& config_scalars();

}  // namespace allocbench::front
