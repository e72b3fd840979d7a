#include "harness/front/config/value_reader.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/front/common/limits.hpp"
#include "harness/front/common/nearest_name.hpp"
#include "harness/front/common/units.hpp"
#include "protocol/parameter_json.hpp"
#include "protocol/parameter_values.hpp"

namespace allocbench::front {
namespace {

using Json = nlohmann::ordered_json;

std::optional<std::uint64_t> integer_from(const Json& json, const ParameterInfo& parameter) {
  if (json.is_number_unsigned()) return json.get<std::uint64_t>();
  if (json.is_number_float()) {
    // A whole number such as 1e6 also counts as an integer.
    const double number = json.get<double>();
    if (number >= 0 && number <= 0x1p53 && number == std::floor(number)) return static_cast<std::uint64_t>(number);
  }
  if (json.is_string() && parameter.unit == "B") return parse_bytes(json.get<std::string>());
  return std::nullopt;
}

std::optional<double> number_from(const Json& json, const ParameterInfo& parameter) {
  if (json.is_number()) return json.get<double>();
  if (!json.is_string() || parameter.unit != "B") return std::nullopt;
  const auto bytes = parse_bytes(json.get<std::string>());
  return bytes ? std::optional(static_cast<double>(*bytes)) : std::nullopt;
}

std::optional<std::vector<std::uint64_t>> integers_from(const Json& json, const ParameterInfo& parameter) {
  if (!json.is_array() || json.size() > limits::list_elements) return std::nullopt;
  std::vector<std::uint64_t> integers;
  for (const Json& element : json) {
    const auto integer = integer_from(element, parameter);
    if (!integer) return std::nullopt;
    integers.push_back(*integer);
  }
  return integers;
}

// Checks only the type; bounds are checked later.
std::optional<ParameterValue> value_from(const Json& json, const ParameterInfo& parameter) {
  switch (parameter.type()) {
    case ParameterType::boolean:
      if (json.is_boolean()) return json.get<bool>();
      return std::nullopt;
    case ParameterType::integer:
      return integer_from(json, parameter);
    case ParameterType::number:
      return number_from(json, parameter);
    case ParameterType::string:
      if (json.is_string() && json.get_ref<const std::string&>().size() <= limits::text_letters) {
        return json.get<std::string>();
      }
      return std::nullopt;
    case ParameterType::integers:
      return integers_from(json, parameter);
  }
  return std::nullopt;
}

// Returns a suggestion for a refused text, or for the first text of a list that has one.
std::string nearest_text(const Json& json, const ParameterInfo& parameter) {
  if (json.is_array()) {
    for (const Json& element : json) {
      if (std::string nearest = nearest_text(element, parameter); !nearest.empty()) return nearest;
    }
  }
  if (!json.is_string()) return "";
  const auto& text = json.get_ref<const std::string&>();
  return parameter.unit == "B" ? nearest_size(text) : nearest_name(text, parameter.choices);
}

struct Range {
  std::string place;
  bool doubling = false;
  double first = 0;
  double last = 0;
  double step = 0;  // step of a range without doubling

  double value(std::size_t index) const {
    return doubling ? std::ldexp(first, static_cast<int>(index)) : first + static_cast<double>(index) * step;
  }
  // In floating point, 0.1 + 0.2 exceeds 0.3, so a tolerance of a millionth of a step is allowed.
  bool ends_before(double value) const { return value > last + (doubling ? 0 : step * 1e-6); }
};

std::optional<Range> range_from(const Json& form, const ParameterInfo& parameter, const std::string& pointer,
                                Problems& problems) {
  const bool doubling = form.contains("log2");
  const char* key = doubling ? "log2" : "range";
  const Json& arguments = form.at(key);
  const std::size_t wanted = doubling ? 2 : 3;
  std::vector<double> numbers;
  if (arguments.is_array() && arguments.size() == wanted) {
    for (const Json& argument : arguments) {
      if (const auto number = number_from(argument, parameter)) numbers.push_back(*number);
    }
  }
  const bool sound = numbers.size() == wanted && numbers[0] <= numbers[1] && (doubling ? numbers[0] : numbers[2]) > 0;
  if (sound) return Range{pointer_to(pointer, key), doubling, numbers[0], numbers[1], doubling ? 0 : numbers[2]};
  problems.add({pointer_to(pointer, key), excerpt(arguments),
                doubling ? "[first, last] with 0 < first <= last; the values double"
                         : "[first, last, step] with first <= last and step > 0",
                nearest_text(arguments, parameter)});
  return std::nullopt;
}

// Returns the numbers of a range, or nothing after adding a problem. The caller converts and checks each number.
std::vector<Json> expand_range(const Json& form, const ParameterInfo& parameter, const std::string& pointer,
                               Problems& problems) {
  const auto range = range_from(form, parameter, pointer, problems);
  if (!range) return {};
  std::vector<Json> values;
  for (double value = range->value(0); !range->ends_before(value); value = range->value(values.size())) {
    if (values.size() == limits::axis_values) {
      problems.add({range->place, fmt::format("more than {} values", limits::axis_values),
                    fmt::format("at most {} values", limits::axis_values), ""});
      return {};
    }
    values.emplace_back(value);
  }
  return values;
}

}  // namespace

std::optional<ParameterValue> read_value(const Json& json, const ParameterInfo& parameter, const std::string& pointer,
                                         Problems& problems) {
  auto value = value_from(json, parameter);
  if (!value || !protocol::allows(parameter, *value)) {
    std::string allowed = fmt::format("{} ({})", allowed_values(parameter), parameter.name);
    if (json.is_array() && json.size() > limits::list_elements) {
      allowed += fmt::format("; at most {} elements", limits::list_elements);
    }
    if (json.is_string() && json.get_ref<const std::string&>().size() > limits::text_letters) {
      allowed += fmt::format("; at most {} characters", limits::text_letters);
    }
    problems.add({pointer, excerpt(json), std::move(allowed), nearest_text(json, parameter)});
    return std::nullopt;
  }
  return value;
}

ParameterValues read_values(const Json& object, const std::vector<ParameterInfo>& parameters,
                            std::string_view ignored_key, const std::string& pointer, Problems& problems) {
  ParameterValues values;
  if (!object.is_object()) {
    problems.add_wrong(pointer, object, "an object of parameters");
    return values;
  }
  for (const auto& [key, json] : object.items()) {
    if (key == ignored_key) continue;
    const std::string place = pointer_to(pointer, key);
    const ParameterInfo* parameter = find_entry(parameters, key);
    if (parameter == nullptr) {
      problems.add_unknown(place, "parameter", key, names_of(parameters));
    } else if (auto value = read_value(json, *parameter, place, problems)) {
      values.emplace_back(key, std::move(*value));
    }
  }
  return values;
}

std::vector<ParameterValue> read_axis(const Json& json, const ParameterInfo& parameter, const std::string& pointer,
                                      Problems& problems) {
  const bool is_list = json.is_array();
  const bool is_form = json.is_object() && json.size() == 1 && (json.contains("range") || json.contains("log2"));
  if (is_form && parameter.type() != ParameterType::integer && parameter.type() != ParameterType::number) {
    problems.add(
        {pointer, fmt::format("a range over a parameter of type {}", protocol::word(parameter.type())), "a list", ""});
    return {};
  }
  if ((!is_list && !is_form) || (is_list && json.empty())) {
    problems.add_wrong(pointer, json,
                       "a list with at least one value, {\"range\": [first, last, step]} or {\"log2\": [first, last]}");
    return {};
  }
  if (is_list && json.size() > limits::axis_values) {
    problems.add(
        {pointer, fmt::format("{} values", json.size()), fmt::format("at most {} values", limits::axis_values), ""});
    return {};
  }
  const std::vector<Json> elements =
      is_list ? std::vector<Json>(json.begin(), json.end()) : expand_range(json, parameter, pointer, problems);
  std::vector<ParameterValue> values;
  std::set<ParameterValue> seen;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const std::string place = is_list ? pointer_to(pointer, i) : pointer;
    auto value = read_value(elements[i], parameter, place, problems);
    if (!value) {
      if (!is_list) break;  // one problem is enough for a range
      continue;
    }
    if (!seen.insert(*value).second) {
      problems.add(
          {place, fmt::format("duplicate value {}", excerpt(protocol::to_json(*value))), "each value once", ""});
    }
    values.push_back(std::move(*value));
  }
  return values;
}

}  // namespace allocbench::front
