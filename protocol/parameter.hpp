// These types are the values and descriptions of parameters. Plug-ins, workers and the front end use the same types.
// Plug-in units include this header, so it uses neither JSON nor other parts of the project.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace allocbench {

// The types are in the order of ParameterValue's alternatives.
enum class ParameterType { boolean, integer, number, string, integers };

using ParameterValue = std::variant<bool, std::uint64_t, double, std::string, std::vector<std::uint64_t>>;

// The values are in the order of the parameter list or config.
using ParameterValues = std::vector<std::pair<std::string, ParameterValue>>;

struct ParameterInfo {
  std::string name;
  std::string unit = {};         // "B", "threads"; empty if the parameter has no unit
  std::string description = {};  // one line
  std::string source = {};       // section of the paper, or "assumed" with the reason in the description
  ParameterValue default_value = std::uint64_t{0};
  double minimum = -std::numeric_limits<double>::infinity();  // bound for numbers and for the elements of lists
  double maximum = std::numeric_limits<double>::infinity();
  std::vector<std::string> choices = {};  // allowed strings; empty: any text
  bool power_of_two = false;              // rule for numbers and for the elements of lists

  ParameterType type() const { return static_cast<ParameterType>(default_value.index()); }
};

}  // namespace allocbench
