#include "harness/worker/parameter_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace allocbench::worker {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

const char* type_name(const ParameterValue& value) {
  static constexpr std::array names{"boolean", "integer", "number", "string", "integers"};
  return names[value.index()];
}

ordered_json to_json(const ParameterValue& value) {
  return std::visit([](const auto& held) { return ordered_json(held); }, value);
}

// Limits of integers are integers in JSON too.
ordered_json limit_to_json(const ParameterInfo& info, double limit) {
  if (std::holds_alternative<double>(info.default_value)) return limit;
  return static_cast<std::int64_t>(limit);
}

// Reads values of one parameter; every complaint names it.
class Reader {
 public:
  Reader(const ParameterInfo& info, const std::string& owner) : info_(info), owner_(owner) {}

  ParameterValue read(const json& value) const {
    switch (info_.default_value.index()) {
      case 0:
        if (value.is_boolean()) return value.get<bool>();
        break;
      case 1:
        if (value.is_number_integer()) return integer(value);
        break;
      case 2:
        if (value.is_number()) return bounded(value);
        break;
      case 3:
        if (value.is_string()) return word(value.get<std::string>());
        break;
      case 4:
        if (value.is_array()) return integers(value);
        break;
    }
    throw complaint(value, std::string("is no ") + type_name(info_.default_value));
  }

 private:
  BadCommand complaint(const json& value, const std::string& what) const {
    return BadCommand(fmt::format("{}: parameter \"{}\": {} {}", owner_, info_.name, value.dump(), what));
  }

  double bounded(const json& value) const {
    const auto number = value.get<double>();
    if (number < info_.minimum || number > info_.maximum) {
      throw complaint(value, fmt::format("is outside of {} to {}", info_.minimum, info_.maximum));
    }
    return number;
  }

  std::uint64_t integer(const json& value) const {
    if (!value.is_number_unsigned()) throw complaint(value, "is negative");
    const auto number = value.get<std::uint64_t>();
    bounded(value);
    if (info_.power_of_two && !std::has_single_bit(number)) throw complaint(value, "is no power of two");
    return number;
  }

  std::vector<std::uint64_t> integers(const json& value) const {
    std::vector<std::uint64_t> result;
    for (const json& element : value) {
      if (!element.is_number_integer()) throw complaint(element, "is no integer");
      result.push_back(integer(element));
    }
    return result;
  }

  std::string word(std::string text) const {
    if (!info_.choices.empty() && std::find(info_.choices.begin(), info_.choices.end(), text) == info_.choices.end()) {
      throw complaint(text, fmt::format("is none of {}", fmt::join(info_.choices, ", ")));
    }
    return text;
  }

  const ParameterInfo& info_;
  const std::string& owner_;
};

}  // namespace

ordered_json describe(const ParameterInfo& info) {
  ordered_json result{{"name", info.name},
                      {"type", type_name(info.default_value)},
                      {"unit", info.unit},
                      {"default", to_json(info.default_value)}};
  if (std::isfinite(info.minimum)) result["minimum"] = limit_to_json(info, info.minimum);
  if (std::isfinite(info.maximum)) result["maximum"] = limit_to_json(info, info.maximum);
  if (!info.choices.empty()) result["choices"] = info.choices;
  if (info.power_of_two) result["power_of_two"] = true;
  result["description"] = info.description;
  result["source"] = info.source;
  return result;
}

ParameterValues read_parameters(const json& object, const std::vector<ParameterInfo>& infos, const std::string& owner) {
  if (!object.is_object()) throw BadCommand(owner + ": \"parameters\" is no object");
  ParameterValues values;
  for (const auto& [name, value] : object.items()) {
    const auto info = std::find_if(infos.begin(), infos.end(),
                                   [&name = name](const ParameterInfo& each) { return each.name == name; });
    if (info == infos.end()) throw BadCommand(fmt::format("{} has no parameter \"{}\"", owner, name));
    values.emplace_back(name, Reader(*info, owner).read(value));
  }
  return values;
}

}  // namespace allocbench::worker
