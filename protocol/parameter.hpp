// Parameters: their values and descriptions, the same types in plug-ins, workers and the front end. Free of JSON and of
// everything else of the project, because plug-in units include it.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace allocbench {

// In the order of ParameterValue's alternatives.
enum class ParameterType { boolean, integer, number, string, integers };

using ParameterValue = std::variant<bool, std::uint64_t, double, std::string, std::vector<std::uint64_t>>;

// In the order in which a parameter list or a config names them.
using ParameterValues = std::vector<std::pair<std::string, ParameterValue>>;

struct ParameterInfo {
  std::string name;
  std::string unit = {};         // "B", "threads", ""; empty where the parameter has none
  std::string description = {};  // one line
  std::string source = {};       // section of the paper, or "assumed" with the reason in the description
  ParameterValue default_value = std::uint64_t{0};
  double minimum = -std::numeric_limits<double>::infinity();  // of numbers and of the elements of lists
  double maximum = std::numeric_limits<double>::infinity();
  std::vector<std::string> choices = {};  // of strings; empty = any text
  bool power_of_two = false;              // numbers and elements of lists

  ParameterType type() const { return static_cast<ParameterType>(default_value.index()); }
};

}  // namespace allocbench
