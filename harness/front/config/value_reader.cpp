#include "harness/front/config/value_reader.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>

#include "harness/front/common/nearest_name.hpp"
#include "harness/front/common/units.hpp"

namespace allocbench::front {
namespace {

using Json = nlohmann::ordered_json;

// More values than any figure draws; a mistyped step would otherwise fill the memory.
constexpr std::size_t most_axis_values = 10'000;

bool within(double value, const Parameter& parameter) {
  return (!parameter.minimum || value >= *parameter.minimum) && (!parameter.maximum || value <= *parameter.maximum);
}

std::optional<std::uint64_t> integer_from(const Json& json, const Parameter& parameter) {
  std::optional<std::uint64_t> integer;
  if (json.is_number_unsigned()) {
    integer = json.get<std::uint64_t>();
  } else if (json.is_number_float()) {
    // 1e6 is an integer to people.
    const double number = json.get<double>();
    if (number >= 0 && number <= 0x1p53 && number == std::floor(number)) integer = static_cast<std::uint64_t>(number);
  } else if (json.is_string() && parameter.unit == "B") {
    integer = parse_bytes(json.get<std::string>());
  }
  if (!integer || !within(static_cast<double>(*integer), parameter)) return std::nullopt;
  if (parameter.power_of_two && !std::has_single_bit(*integer)) return std::nullopt;
  return integer;
}

std::optional<Value> value_from(const Json& json, const Parameter& parameter) {
  switch (parameter.type) {
    case ParameterType::boolean:
      if (json.is_boolean()) return json.get<bool>();
      return std::nullopt;
    case ParameterType::integer:
      if (const auto integer = integer_from(json, parameter)) return *integer;
      return std::nullopt;
    case ParameterType::number: {
      if (json.is_string() && parameter.unit == "B") {
        const auto bytes = parse_bytes(json.get<std::string>());
        if (bytes && within(static_cast<double>(*bytes), parameter)) return static_cast<double>(*bytes);
        return std::nullopt;
      }
      if (!json.is_number() || !within(json.get<double>(), parameter)) return std::nullopt;
      return json.get<double>();
    }
    case ParameterType::string: {
      if (!json.is_string()) return std::nullopt;
      auto text = json.get<std::string>();
      for (const std::string& choice : parameter.choices) {
        if (choice == text) return text;
      }
      if (!parameter.choices.empty()) return std::nullopt;
      return text;
    }
    case ParameterType::integers: {
      if (!json.is_array()) return std::nullopt;
      std::vector<std::uint64_t> integers;
      for (const Json& element : json) {
        const auto integer = integer_from(element, parameter);
        if (!integer) return std::nullopt;
        integers.push_back(*integer);
      }
      return integers;
    }
  }
  return std::nullopt;
}

// The numbers of a range form; the caller converts and checks each one. Empty after adding a problem.
std::vector<Json> expand_range(const Json& form, const Parameter& parameter, const std::string& pointer,
                               Problems& problems) {
  const bool doubling = form.contains("log2");
  const char* key = doubling ? "log2" : "range";
  const Json& arguments = form.at(key);
  const std::string place = pointer_to(pointer, key);
  const std::string allowed = doubling ? "[first, last] with 0 < first <= last; the values double"
                                       : "[first, last, step] with first <= last and step > 0";
  std::vector<double> numbers;
  if (arguments.is_array() && arguments.size() == (doubling ? 2u : 3u)) {
    for (const Json& argument : arguments) {
      const auto bytes = argument.is_string() && parameter.unit == "B" ? parse_bytes(argument.get<std::string>())
                                                                       : std::optional<std::uint64_t>{};
      if (argument.is_number()) {
        numbers.push_back(argument.get<double>());
      } else if (bytes) {
        numbers.push_back(static_cast<double>(*bytes));
      }
    }
  }
  const bool complete = numbers.size() == (doubling ? 2u : 3u);
  if (!complete || numbers[0] > numbers[1] || (doubling ? numbers[0] <= 0 : numbers[2] <= 0)) {
    problems.add({place, fmt::format("{}", arguments.dump()), allowed, ""});
    return {};
  }
  const double last = numbers[1];
  std::vector<Json> values;
  for (std::size_t step = 0;; ++step) {
    const double value =
        doubling ? std::ldexp(numbers[0], static_cast<int>(step)) : numbers[0] + static_cast<double>(step) * numbers[2];
    // A millionth of a step forgives 0.1 + 0.2 > 0.3.
    if (value > last + (doubling ? 0 : numbers[2] * 1e-6)) break;
    if (values.size() == most_axis_values) {
      problems.add({place, fmt::format("more than {} values", most_axis_values), allowed, ""});
      return {};
    }
    values.emplace_back(value);
  }
  return values;
}

}  // namespace

std::optional<Value> read_value(const Json& json, const Parameter& parameter, const std::string& pointer,
                                Problems& problems) {
  auto value = value_from(json, parameter);
  if (!value) {
    problems.add({pointer, fmt::format("{}", json.dump()),
                  fmt::format("{} ({})", allowed_values(parameter), parameter.name),
                  json.is_string() ? nearest_name(json.get<std::string>(), parameter.choices) : ""});
  }
  return value;
}

NamedValues read_values(const Json& object, const std::vector<Parameter>& parameters, std::string_view ignored_key,
                        const std::string& pointer, Problems& problems) {
  NamedValues values;
  if (!object.is_object()) {
    problems.add({pointer, fmt::format("{}", object.dump()), "an object of parameters", ""});
    return values;
  }
  for (const auto& [key, json] : object.items()) {
    if (key == ignored_key) continue;
    const std::string place = pointer_to(pointer, key);
    const Parameter* parameter = find_parameter(parameters, key);
    if (parameter == nullptr) {
      problems.add_unknown(place, "parameter", key, names_of(parameters));
    } else if (auto value = read_value(json, *parameter, place, problems)) {
      values.emplace_back(key, std::move(*value));
    }
  }
  return values;
}

std::vector<Value> read_axis(const Json& json, const Parameter& parameter, const std::string& pointer,
                             Problems& problems) {
  const bool is_list = json.is_array();
  const bool is_form = json.is_object() && json.size() == 1 && (json.contains("range") || json.contains("log2"));
  if (is_form && parameter.type != ParameterType::integer && parameter.type != ParameterType::number) {
    problems.add({pointer, fmt::format("a range over a parameter of type {}", word(parameter.type)), "a list", ""});
    return {};
  }
  if ((!is_list && !is_form) || (is_list && json.empty())) {
    problems.add({pointer, fmt::format("{}", json.dump()),
                  "a list with at least one value, {\"range\": [first, last, step]} or {\"log2\": [first, last]}", ""});
    return {};
  }
  const std::vector<Json> elements =
      is_list ? std::vector<Json>(json.begin(), json.end()) : expand_range(json, parameter, pointer, problems);
  std::vector<Value> values;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const std::string place = is_list ? pointer_to(pointer, i) : pointer;
    auto value = read_value(elements[i], parameter, place, problems);
    if (!value) {
      if (!is_list) break;  // the rest of a range fails for the same reason
      continue;
    }
    bool repeated = false;
    for (const Value& earlier : values) repeated = repeated || earlier == *value;
    if (repeated)
      problems.add({place, fmt::format("the value {} for the second time", to_text(*value)), "each once", ""});
    values.push_back(std::move(*value));
  }
  return values;
}

}  // namespace allocbench::front
