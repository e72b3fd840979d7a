#include "harness/front/config/sweep_reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "harness/front/common/limits.hpp"
#include "harness/front/config/scalars.hpp"
#include "harness/front/config/schema.hpp"
#include "harness/front/config/value_reader.hpp"

namespace allocbench::front {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view allocator_prefix = "allocator.";
// The settings of a cell that an axis may sweep, apart from those of its workload and its allocator.
const std::vector<std::string> cell_axes = {"pool_bytes", "l2", "state", "aged_rounds"};

}  // namespace

SweepReader::SweepReader(const Json& config, const Catalogue& catalogue, const protocol::WorkloadDescription* workload,
                         const std::vector<AllocatorChoice>& allocators, Problems& problems)
    : config_(config), catalogue_(catalogue), workload_(workload), allocators_(allocators), problems_(problems) {}

std::vector<AxisGroup> SweepReader::axis_groups() const {
  std::vector<AxisGroup> groups;
  if (config_.contains("sweep")) {
    const Json& sweep = config_["sweep"];
    if (!sweep.is_object()) problems_.add_wrong("/sweep", sweep, "an object of axes");
    if (sweep.is_object()) {
      for (const auto& [name, json] : sweep.items()) {
        auto axis = plain_axis(name, json, pointer_to("/sweep", name));
        if (axis) groups.push_back({{std::move(*axis)}});
      }
    }
  }
  if (config_.contains("zip")) {
    const Json& zip = config_["zip"];
    if (!zip.is_array()) problems_.add_wrong("/zip", zip, "a list of groups of axes");
    for (std::size_t i = 0; zip.is_array() && i < zip.size(); ++i) {
      if (auto group = zip_group(zip[i], pointer_to("/zip", i))) groups.push_back(std::move(*group));
    }
  }
  report_repeated_axes(groups);
  return groups;
}

// Returns the description of the parameter that an axis sweeps, or nullptr after adding a problem.
const ParameterInfo* SweepReader::axis_parameter(const std::string& name, const std::string& pointer) const {
  if (std::find(cell_axes.begin(), cell_axes.end(), name) != cell_axes.end()) return find_entry(config_scalars(), name);
  if (name.starts_with(allocator_prefix)) return allocator_parameter(name.substr(allocator_prefix.size()), pointer);
  if (workload_ == nullptr) return nullptr;  // already reported
  const ParameterInfo* parameter = find_entry(workload_->parameters, name);
  if (parameter == nullptr) {
    auto valid = names_of(workload_->parameters);
    valid.insert(valid.end(), cell_axes.begin(), cell_axes.end());
    valid.push_back("allocator.<parameter>");
    problems_.add_unknown(pointer, "axis", name, valid);
  }
  return parameter;
}

// All allocators of a config are swept together, so all must have the parameter.
const ParameterInfo* SweepReader::allocator_parameter(const std::string& name, const std::string& pointer) const {
  const ParameterInfo* parameter = nullptr;
  for (const AllocatorChoice& choice : allocators_) {
    const protocol::AllocatorDescription* entry = find_entry(catalogue_.allocators, choice.id);
    if (entry == nullptr) continue;  // already reported
    parameter = find_entry(entry->parameters, name);
    if (parameter == nullptr) {
      problems_.add_unknown(pointer, fmt::format("parameter of {}", choice.id), name, names_of(entry->parameters));
      return nullptr;
    }
  }
  return parameter;
}

std::optional<Axis> SweepReader::plain_axis(const std::string& name, const Json& json,
                                            const std::string& pointer) const {
  const ParameterInfo* parameter = axis_parameter(name, pointer);
  if (parameter == nullptr) return std::nullopt;
  const std::size_t problems_before = problems_.size();
  auto values = read_axis(json, *parameter, pointer, problems_);
  if (problems_.size() != problems_before || values.empty()) return std::nullopt;
  return Axis{name, pointer, std::move(values)};
}

// A list of `zip` may repeat a value, because only the combinations of values must differ. The plan reports equal
// cells.
std::optional<Axis> SweepReader::zipped_axis(const std::string& name, const Json& json,
                                             const std::string& pointer) const {
  if (!json.is_array() || json.empty()) return plain_axis(name, json, pointer);
  const ParameterInfo* parameter = axis_parameter(name, pointer);
  if (parameter == nullptr) return std::nullopt;
  Axis axis{name, pointer, {}};
  if (json.size() > limits::axis_values) {
    problems_.add({pointer, fmt::format("{} values", json.size()), fmt::format("at most {}", limits::axis_values), ""});
    return std::nullopt;
  }
  for (std::size_t i = 0; i < json.size(); ++i) {
    if (auto value = read_value(json[i], *parameter, pointer_to(pointer, i), problems_)) axis.values.push_back(*value);
  }
  if (axis.values.size() != json.size()) return std::nullopt;
  return axis;
}

std::optional<AxisGroup> SweepReader::zip_group(const Json& json, const std::string& pointer) const {
  if (!json.is_object() || json.size() < 2) {
    problems_.add_wrong(pointer, json, "an object of at least two axes");
    return std::nullopt;
  }
  AxisGroup group;
  for (const auto& [name, values] : json.items()) {
    if (auto axis = zipped_axis(name, values, pointer_to(pointer, name))) group.axes.push_back(std::move(*axis));
  }
  if (group.axes.size() != json.size()) return std::nullopt;
  std::vector<std::string> lengths;
  bool equal = true;
  for (const Axis& axis : group.axes) {
    lengths.push_back(fmt::format("{} has {}", axis.name, axis.values.size()));
    equal = equal && axis.values.size() == group.size();
  }
  if (equal) return group;
  problems_.add({pointer, fmt::format("lists of different lengths: {}", fmt::join(lengths, ", ")),
                 "the same number of values on every axis of a group", ""});
  return std::nullopt;
}

void SweepReader::report_repeated_axes(const std::vector<AxisGroup>& groups) const {
  std::map<std::string, std::string> seen;
  for (const AxisGroup& group : groups) {
    for (const Axis& axis : group.axes) {
      const auto [place, is_new] = seen.emplace(axis.name, axis.pointer);
      if (is_new) continue;
      problems_.add({axis.pointer, fmt::format("the axis \"{}\", which {} also sweeps", axis.name, place->second),
                     "each axis once", ""});
    }
  }
}

std::vector<Exclusion> SweepReader::exclusions(const std::vector<AxisGroup>& groups) const {
  std::vector<Exclusion> exclusions;
  if (!config_.contains("exclude")) return exclusions;
  const Json& list = config_["exclude"];
  if (!list.is_array()) {
    problems_.add_wrong("/exclude", list, "a list");
    return exclusions;
  }
  if (const std::size_t most = schema_definition("exclude").at("maxItems"); list.size() > most) {
    problems_.add({"/exclude", fmt::format("{} exclusions", list.size()), fmt::format("at most {}", most), ""});
    return exclusions;
  }
  std::vector<std::string> names = {"allocator"};
  for (const AxisGroup& group : groups) {
    for (const Axis& axis : group.axes) names.push_back(axis.name);
  }
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string pointer = pointer_to("/exclude", i);
    if (!list[i].is_object() || list[i].empty()) {
      problems_.add_wrong(pointer, list[i], "an object of axis values and \"allocator\"");
      continue;
    }
    Exclusion& exclusion = exclusions.emplace_back();
    for (const auto& [name, json] : list[i].items()) {
      const std::string place = pointer_to(pointer, name);
      if (std::find(names.begin(), names.end(), name) == names.end()) {
        problems_.add_unknown(place, "axis", name, names);
      } else {
        exclusion.conditions.emplace_back(name, condition(name, json, place));
      }
    }
  }
  return exclusions;
}

// Reads one value or a list of values.
std::vector<ParameterValue> SweepReader::condition(const std::string& name, const Json& json,
                                                   const std::string& pointer) const {
  ParameterInfo allocator{.name = "allocator", .default_value = std::string()};
  for (const AllocatorChoice& choice : allocators_) {
    allocator.choices.push_back(choice.id);
    if (choice.label != choice.id) allocator.choices.push_back(choice.label);
  }
  const ParameterInfo* parameter = name == "allocator" ? &allocator : axis_parameter(name, pointer);
  if (parameter == nullptr) return {};
  const bool is_list = json.is_array() && parameter->type() != ParameterType::integers;
  std::vector<ParameterValue> values;
  for (std::size_t i = 0; i < (is_list ? json.size() : 1); ++i) {
    const auto value =
        read_value(is_list ? json[i] : json, *parameter, is_list ? pointer_to(pointer, i) : pointer, problems_);
    if (value) values.push_back(*value);
  }
  return values;
}

}  // namespace allocbench::front
