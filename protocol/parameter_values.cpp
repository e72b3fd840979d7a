#include "protocol/parameter_values.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace allocbench::protocol {
namespace {

bool within(const ParameterInfo& info, double number) { return number >= info.minimum && number <= info.maximum; }

bool allows_integer(const ParameterInfo& info, std::uint64_t integer) {
  return within(info, static_cast<double>(integer)) && (!info.power_of_two || std::has_single_bit(integer));
}

}  // namespace

const ParameterValue* find_value(const ParameterValues& values, std::string_view name) {
  for (const auto& [each, value] : values) {
    if (each == name) return &value;
  }
  return nullptr;
}

void assign_value(ParameterValues& values, std::string_view name, ParameterValue value) {
  for (auto& [each, old] : values) {
    if (each == name) {
      old = std::move(value);
      return;
    }
  }
  values.emplace_back(name, std::move(value));
}

std::string_view word(ParameterType type) {
  static constexpr std::array<std::string_view, 5> words = {"boolean", "integer", "number", "string", "integers"};
  return words[static_cast<std::size_t>(type)];
}

ParameterValue converted(ParameterValue value, ParameterType type) {
  const auto* integer = std::get_if<std::uint64_t>(&value);
  if (type == ParameterType::number && integer != nullptr) return static_cast<double>(*integer);
  return value;
}

bool allows(const ParameterInfo& info, const ParameterValue& value) {
  if (value.index() != info.default_value.index()) return false;
  if (const auto* integer = std::get_if<std::uint64_t>(&value)) return allows_integer(info, *integer);
  if (const auto* number = std::get_if<double>(&value)) return within(info, *number);
  if (const auto* text = std::get_if<std::string>(&value)) {
    return info.choices.empty() || std::find(info.choices.begin(), info.choices.end(), *text) != info.choices.end();
  }
  if (const auto* integers = std::get_if<std::vector<std::uint64_t>>(&value)) {
    return std::all_of(integers->begin(), integers->end(),
                       [&](std::uint64_t each) { return allows_integer(info, each); });
  }
  return true;
}

std::optional<double> magnitude(const ParameterValue& value) {
  if (const auto* integer = std::get_if<std::uint64_t>(&value)) return static_cast<double>(*integer);
  if (const auto* number = std::get_if<double>(&value)) return *number;
  return std::nullopt;
}

}  // namespace allocbench::protocol
