// What a worker can run: its answer to --describe. Configs are checked against it, `list` and `describe` print it.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/front/config/value.hpp"

namespace allocbench::front {

inline constexpr int protocol_version = 1;

enum class ParameterType { boolean, integer, number, string, integers };

struct Parameter {
  std::string name;
  ParameterType type = ParameterType::integer;
  std::string unit;
  Value default_value = std::uint64_t{0};
  std::optional<double> minimum = {};
  std::optional<double> maximum = {};
  std::vector<std::string> choices = {};
  bool power_of_two = false;
  std::string description = {};
  std::string source = {};
};

struct AllocatorEntry {
  std::string name;
  std::string display_name;
  std::string paper;
  std::string summary;
  std::string plugin;
  std::string frees;
  std::uint64_t alignment = 16;
  bool pool_is_device_heap = false;
  bool fresh_by_process = false;  // a fresh state needs a new worker
  bool test_only = false;
  std::vector<Parameter> parameters;
};

struct WorkloadEntry {
  std::string name;
  std::string display_name;
  std::string paper;
  std::string summary;
  std::vector<std::string> phases;
  bool null_expected = false;
  std::vector<Parameter> parameters;
};

struct MetricEntry {
  std::string name;
  std::string unit;
  std::string better;
  std::string description;
  std::string source;
};

struct Catalogue {
  std::string backend;
  std::string revision;
  std::string compiler;
  std::vector<AllocatorEntry> allocators;
  std::vector<WorkloadEntry> workloads;
  std::vector<MetricEntry> metrics;
};

// Reads the output of `worker --describe`. Throws EnvironmentError when it is not what the README promises: then worker
// and front end come from different builds.
Catalogue parse_catalogue(std::string_view text, std::string_view worker_path);

// Also read from a config's own keys (repetitions, seed, ...), which are checked like parameters.
const Parameter* find_parameter(const std::vector<Parameter>& parameters, std::string_view name);

template <class Entry>
const Entry* find_entry(const std::vector<Entry>& entries, std::string_view name) {
  for (const Entry& entry : entries) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

template <class Entry>
std::vector<std::string> names_of(const std::vector<Entry>& entries) {
  std::vector<std::string> names;
  names.reserve(entries.size());
  for (const Entry& entry : entries) names.push_back(entry.name);
  return names;
}

NamedValues defaults_of(const std::vector<Parameter>& parameters);

std::string_view word(ParameterType type);

// "a power of two from 16 B to 128 KiB"; also used in error texts, so that both always agree.
std::string allowed_values(const Parameter& parameter);

nlohmann::ordered_json to_json(const Parameter& parameter);
nlohmann::ordered_json to_json(const AllocatorEntry& allocator);
nlohmann::ordered_json to_json(const WorkloadEntry& workload);
nlohmann::ordered_json to_json(const MetricEntry& metric);

}  // namespace allocbench::front
