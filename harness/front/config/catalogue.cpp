#include "harness/front/config/catalogue.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "harness/front/common/errors.hpp"
#include "harness/front/common/units.hpp"

namespace allocbench::front {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 5> type_words = {"boolean", "integer", "number", "string", "integers"};

ParameterType type_of(const std::string& text) {
  for (std::size_t i = 0; i < type_words.size(); ++i) {
    if (type_words[i] == text) return static_cast<ParameterType>(i);
  }
  throw std::invalid_argument(fmt::format("unknown parameter type \"{}\"", text));
}

std::optional<double> optional_number(const Json& json, const char* key) {
  if (!json.contains(key)) return std::nullopt;
  return json.at(key).get<double>();
}

std::vector<Parameter> parse_parameters(const Json& list) {
  std::vector<Parameter> parameters;
  for (const Json& json : list) {
    Parameter& parameter = parameters.emplace_back();
    parameter.name = json.at("name");
    parameter.type = type_of(json.at("type"));
    parameter.unit = json.value("unit", "");
    parameter.default_value = value_from_json(json.at("default"));
    // Writers of JSON print the number 2.0 as 2.
    if (parameter.type == ParameterType::number) parameter.default_value = json.at("default").get<double>();
    parameter.minimum = optional_number(json, "minimum");
    parameter.maximum = optional_number(json, "maximum");
    parameter.choices = json.value("choices", std::vector<std::string>{});
    parameter.power_of_two = json.value("power_of_two", false);
    parameter.description = json.value("description", "");
    parameter.source = json.value("source", "");
  }
  return parameters;
}

AllocatorEntry parse_allocator(const Json& json) {
  AllocatorEntry entry;
  entry.name = json.at("name");
  entry.display_name = json.value("display_name", entry.name);
  entry.paper = json.value("paper", "");
  entry.summary = json.value("summary", "");
  entry.plugin = json.value("plugin", "");
  entry.frees = json.at("frees");
  entry.alignment = json.at("alignment");
  entry.pool_is_device_heap = json.at("pool") == "device_heap";
  entry.fresh_by_process = json.at("fresh") == "process";
  entry.test_only = json.value("test_only", false);
  entry.parameters = parse_parameters(json.at("parameters"));
  return entry;
}

WorkloadEntry parse_workload(const Json& json) {
  WorkloadEntry entry;
  entry.name = json.at("name");
  entry.display_name = json.value("display_name", entry.name);
  entry.paper = json.value("paper", "");
  entry.summary = json.value("summary", "");
  entry.phases = json.at("phases").get<std::vector<std::string>>();
  entry.null_expected = json.value("null_expected", false);
  entry.parameters = parse_parameters(json.at("parameters"));
  return entry;
}

std::string with_unit(double value, const std::string& unit) {
  if (unit == "B" && value >= 0) return format_bytes(static_cast<std::uint64_t>(value));
  return unit.empty() ? fmt::format("{}", value) : fmt::format("{} {}", value, unit);
}

}  // namespace

Catalogue parse_catalogue(std::string_view text, std::string_view worker_path) {
  Catalogue catalogue;
  try {
    const Json json = Json::parse(text);
    if (json.at("protocol") != protocol_version) {
      throw EnvironmentError(fmt::format("{} speaks protocol {}, this allocbench speaks {}: build both from one tree.",
                                         worker_path, json.at("protocol").dump(), protocol_version));
    }
    catalogue.backend = json.at("backend");
    catalogue.revision = json.value("revision", "");
    catalogue.compiler = json.value("compiler", "");
    for (const Json& allocator : json.at("allocators")) catalogue.allocators.push_back(parse_allocator(allocator));
    for (const Json& workload : json.at("workloads")) catalogue.workloads.push_back(parse_workload(workload));
    for (const Json& metric : json.at("metrics")) {
      catalogue.metrics.push_back({metric.at("name"), metric.value("unit", ""), metric.value("better", "none"),
                                   metric.value("description", ""), metric.value("source", "")});
    }
  } catch (const EnvironmentError&) {
    throw;
  } catch (const std::exception& error) {
    throw EnvironmentError(fmt::format("{} --describe printed no valid description: {}", worker_path, error.what()));
  }
  return catalogue;
}

const Parameter* find_parameter(const std::vector<Parameter>& parameters, std::string_view name) {
  return find_entry(parameters, name);
}

NamedValues defaults_of(const std::vector<Parameter>& parameters) {
  NamedValues values;
  for (const Parameter& parameter : parameters) values.emplace_back(parameter.name, parameter.default_value);
  return values;
}

std::string_view word(ParameterType type) { return type_words[static_cast<std::size_t>(type)]; }

std::string allowed_values(const Parameter& parameter) {
  if (!parameter.choices.empty()) return fmt::format("one of {}", fmt::join(parameter.choices, ", "));
  std::string text;
  switch (parameter.type) {
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
  if (parameter.minimum) text += fmt::format(", at least {}", with_unit(*parameter.minimum, parameter.unit));
  if (parameter.maximum) text += fmt::format(", at most {}", with_unit(*parameter.maximum, parameter.unit));
  if (parameter.unit == "B") text += "; sizes may be written as \"64KiB\"";
  return text;
}

Json to_json(const Parameter& parameter) {
  Json json = {{"name", parameter.name},
               {"type", word(parameter.type)},
               {"unit", parameter.unit},
               {"default", to_json(parameter.default_value)}};
  if (parameter.minimum) json["minimum"] = *parameter.minimum;
  if (parameter.maximum) json["maximum"] = *parameter.maximum;
  if (!parameter.choices.empty()) json["choices"] = parameter.choices;
  if (parameter.power_of_two) json["power_of_two"] = true;
  json["description"] = parameter.description;
  json["source"] = parameter.source;
  return json;
}

Json to_json(const AllocatorEntry& allocator) {
  Json json = {{"name", allocator.name},
               {"display_name", allocator.display_name},
               {"paper", allocator.paper},
               {"summary", allocator.summary},
               {"plugin", allocator.plugin},
               {"frees", allocator.frees},
               {"alignment", allocator.alignment},
               {"pool", allocator.pool_is_device_heap ? "device_heap" : "arena"},
               {"fresh", allocator.fresh_by_process ? "process" : "reset"},
               {"test_only", allocator.test_only},
               {"parameters", Json::array()}};
  for (const Parameter& parameter : allocator.parameters) json["parameters"].push_back(to_json(parameter));
  return json;
}

Json to_json(const WorkloadEntry& workload) {
  Json json = {{"name", workload.name},      {"display_name", workload.display_name},
               {"paper", workload.paper},    {"summary", workload.summary},
               {"phases", workload.phases},  {"null_expected", workload.null_expected},
               {"parameters", Json::array()}};
  for (const Parameter& parameter : workload.parameters) json["parameters"].push_back(to_json(parameter));
  return json;
}

Json to_json(const MetricEntry& metric) {
  return {{"name", metric.name},
          {"unit", metric.unit},
          {"better", metric.better},
          {"description", metric.description},
          {"source", metric.source}};
}

}  // namespace allocbench::front
