// Catalogue is a worker's answer to --describe: all allocators, workloads and metrics of the worker. Configs are
// checked against the catalogue, and the commands `list` and `describe` print parts of it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "protocol/description.hpp"

namespace allocbench::front {

using Catalogue = protocol::WorkerDescription;

// Reads the output of `worker --describe`. Throws EnvironmentError if this is not a valid description, which
// usually means that worker and front end come from different builds.
Catalogue parse_catalogue(std::string_view text, std::string_view worker_path);

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

ParameterValues defaults_of(const std::vector<ParameterInfo>& parameters);

// Returns a value as in cell names and tables: 4096, true, 0.75, deep, [16,32].
std::string to_text(const ParameterValue& value);

// Returns a number with its unit, such as "4 threads", "1 thread" or "0.5 s". Fractions and ratios have no unit.
std::string with_unit(const std::string& number, const std::string& unit);

// Returns a text such as "a power of two, at least 16 B, at most 128 KiB". `describe` and error texts both use it, so
// they always agree.
std::string allowed_values(const ParameterInfo& parameter);

}  // namespace allocbench::front
