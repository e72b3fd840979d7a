#include "harness/front/config/catalogue.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "harness/front/common/build_hints.hpp"
#include "harness/front/common/errors.hpp"
#include "harness/front/common/units.hpp"
#include "protocol/description_json.hpp"
#include "protocol/parameter_json.hpp"

namespace allocbench::front {
namespace {

std::string bound_text(double value, const std::string& unit) {
  if (unit == "B" && value >= 0) return format_bytes(static_cast<std::uint64_t>(value));
  return with_unit(fmt::format("{}", value), unit);
}

// Returns the unit of one: "thread" for "threads", "batch" for "batches".
std::string singular(const std::string& unit) {
  const bool is_word = unit.size() > 2;  // "s" and "ns" are no words
  if (!is_word || !unit.ends_with("s")) return unit;
  const bool hisses = unit.ends_with("ches") || unit.ends_with("sses");
  return unit.substr(0, unit.size() - (hisses ? 2 : 1));
}

}  // namespace

Catalogue parse_catalogue(std::string_view text, std::string_view worker_path) {
  try {
    return protocol::worker_from_json(protocol::parse_object(text, "its output"));
  } catch (const protocol::Malformed& error) {
    throw EnvironmentError(
        fmt::format("{} --describe printed no valid description: {}. Build both programs from one tree with {}.",
                    worker_path, error.what(), how_to_build_programs));
  }
}

ParameterValues defaults_of(const std::vector<ParameterInfo>& parameters) {
  ParameterValues values;
  for (const ParameterInfo& parameter : parameters) values.emplace_back(parameter.name, parameter.default_value);
  return values;
}

std::string to_text(const ParameterValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  return protocol::to_json(value).dump();
}

std::string with_unit(const std::string& number, const std::string& unit) {
  if (unit.empty() || unit == "fraction" || unit == "ratio") return number;
  return fmt::format("{} {}", number, number == "1" ? singular(unit) : unit);
}

std::string allowed_values(const ParameterInfo& parameter) {
  if (!parameter.choices.empty()) return fmt::format("one of {}", fmt::join(parameter.choices, ", "));
  std::string text;
  switch (parameter.type()) {
    case ParameterType::boolean:
      return "true or false";
    case ParameterType::string:
      return "a text";
    case ParameterType::integer:
      text = parameter.power_of_two ? "a power of two" : "a non-negative integer";
      break;
    case ParameterType::number:
      text = "a number";
      break;
    case ParameterType::integers:
      text = parameter.power_of_two ? "a list of powers of two" : "a list of non-negative integers";
      break;
  }
  if (std::isfinite(parameter.minimum))
    text += fmt::format(", at least {}", bound_text(parameter.minimum, parameter.unit));
  if (std::isfinite(parameter.maximum))
    text += fmt::format(", at most {}", bound_text(parameter.maximum, parameter.unit));
  if (parameter.unit == "B") text += "; sizes may be written as \"64KiB\"";
  return text;
}

}  // namespace allocbench::front
