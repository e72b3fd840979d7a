// The values of parameters and axes, free of JSON, so that plans can be built and tested without a JSON library.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace allocbench::front {

using Value = std::variant<bool, std::uint64_t, double, std::string, std::vector<std::uint64_t>>;

// In the order in which a parameter list or a config names them.
using NamedValues = std::vector<std::pair<std::string, Value>>;

const Value* find(const NamedValues& values, std::string_view name);
void assign(NamedValues& values, std::string_view name, Value value);

// As in cell names and tables: 4096, true, 0.75, deep, [16,32].
std::string to_text(const Value& value);

// Numbers only: what a sweep can grow along.
std::optional<double> magnitude(const Value& value);

nlohmann::ordered_json to_json(const Value& value);
nlohmann::ordered_json to_json(const NamedValues& values);
// Throws std::invalid_argument for what no parameter can hold (null, objects, negative integers, mixed lists).
Value value_from_json(const nlohmann::ordered_json& json);

}  // namespace allocbench::front
