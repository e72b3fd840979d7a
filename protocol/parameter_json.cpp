#include "protocol/parameter_json.hpp"

#include <fmt/format.h>

#include <cmath>

#include "protocol/parameter_values.hpp"

namespace allocbench::protocol {
namespace {

ParameterType type_of(const std::string& text) {
  for (const ParameterType type : {ParameterType::boolean, ParameterType::integer, ParameterType::number,
                                   ParameterType::string, ParameterType::integers}) {
    if (word(type) == text) return type;
  }
  throw Malformed(fmt::format("\"{}\" is not a parameter type", text));
}

// Limits of integers are also integers in JSON.
Json limit_to_json(const ParameterInfo& info, double limit) {
  if (info.type() == ParameterType::number) return limit;
  return static_cast<std::int64_t>(limit);
}

}  // namespace

Json to_json(const ParameterValue& value) {
  return std::visit([](const auto& held) { return Json(held); }, value);
}

Json to_json(const ParameterValues& values) {
  Json object = Json::object();
  for (const auto& [name, value] : values) object[name] = to_json(value);
  return object;
}

Json to_json(const ParameterInfo& info) {
  Json json = {
      {"name", info.name}, {"type", word(info.type())}, {"unit", info.unit}, {"default", to_json(info.default_value)}};
  if (std::isfinite(info.minimum)) json["minimum"] = limit_to_json(info, info.minimum);
  if (std::isfinite(info.maximum)) json["maximum"] = limit_to_json(info, info.maximum);
  if (!info.choices.empty()) json["choices"] = info.choices;
  if (info.power_of_two) json["power_of_two"] = true;
  json["description"] = info.description;
  json["source"] = info.source;
  return json;
}

ParameterValue value_from_json(const Json& json) {
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_unsigned()) return json.get<std::uint64_t>();
  if (json.is_number_float()) return json.get<double>();
  if (json.is_string()) return json.get<std::string>();
  if (!json.is_array()) throw Malformed(fmt::format("{} cannot be the value of a parameter", json.dump()));
  std::vector<std::uint64_t> integers;
  for (const Json& element : json) {
    if (!element.is_number_unsigned()) throw Malformed("a list must hold non-negative integers");
    integers.push_back(element.get<std::uint64_t>());
  }
  return integers;
}

ParameterValues values_from_json(const Json& object) {
  if (!object.is_object()) throw Malformed("parameters must be an object");
  ParameterValues values;
  for (const auto& [name, json] : object.items()) {
    try {
      values.emplace_back(name, value_from_json(json));
    } catch (const Malformed& error) {
      throw Malformed(fmt::format("parameter \"{}\": {}", name, error.what()));
    }
  }
  return values;
}

ParameterInfo parameter_from_json(const Json& json) {
  ParameterInfo info;
  info.name = text_member(json, "name");
  const ParameterType type = type_of(text_member(json, "type"));
  info.unit = text_member_or(json, "unit", "");
  info.default_value = converted(value_from_json(member(json, "default")), type);
  if (info.type() != type) throw Malformed(fmt::format("the default of \"{}\" has another type", info.name));
  if (optional_member(json, "minimum") != nullptr) info.minimum = number_member(json, "minimum");
  if (optional_member(json, "maximum") != nullptr) info.maximum = number_member(json, "maximum");
  if (optional_member(json, "choices") != nullptr) {
    for (const Json& choice : list_member(json, "choices")) {
      if (!choice.is_string()) throw Malformed(fmt::format("the choices of \"{}\" must be strings", info.name));
      info.choices.push_back(choice);
    }
  }
  info.power_of_two = truth_member_or(json, "power_of_two", false);
  info.description = text_member_or(json, "description", "");
  info.source = text_member_or(json, "source", "");
  return info;
}

}  // namespace allocbench::protocol
