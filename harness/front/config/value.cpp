#include "harness/front/config/value.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

namespace allocbench::front {

const Value* find(const NamedValues& values, std::string_view name) {
  for (const auto& [each, value] : values) {
    if (each == name) return &value;
  }
  return nullptr;
}

void assign(NamedValues& values, std::string_view name, Value value) {
  for (auto& [each, old] : values) {
    if (each == name) {
      old = std::move(value);
      return;
    }
  }
  values.emplace_back(name, std::move(value));
}

std::string to_text(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  return to_json(value).dump();
}

std::optional<double> magnitude(const Value& value) {
  if (const auto* integer = std::get_if<std::uint64_t>(&value)) return static_cast<double>(*integer);
  if (const auto* number = std::get_if<double>(&value)) return *number;
  return std::nullopt;
}

nlohmann::ordered_json to_json(const Value& value) {
  return std::visit([](const auto& held) { return nlohmann::ordered_json(held); }, value);
}

nlohmann::ordered_json to_json(const NamedValues& values) {
  auto object = nlohmann::ordered_json::object();
  for (const auto& [name, value] : values) object[name] = to_json(value);
  return object;
}

Value value_from_json(const nlohmann::ordered_json& json) {
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_unsigned()) return json.get<std::uint64_t>();
  if (json.is_number_float()) return json.get<double>();
  if (json.is_string()) return json.get<std::string>();
  if (json.is_array()) {
    std::vector<std::uint64_t> integers;
    for (const auto& element : json) {
      if (!element.is_number_unsigned()) throw std::invalid_argument("a list of non-negative integers was expected");
      integers.push_back(element.get<std::uint64_t>());
    }
    return integers;
  }
  throw std::invalid_argument(fmt::format("{} is no parameter value", json.dump()));
}

}  // namespace allocbench::front
