// This file makes the effective config: it merges the section of one back end and, with --full, the section `full` into
// the rest of the config.
#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>

#include "harness/front/common/units.hpp"
#include "harness/front/config/config.hpp"
#include "harness/front/config/schema.hpp"

namespace allocbench::front {
namespace {

using Json = nlohmann::ordered_json;

bool is_axis_form(const Json& json) { return json.is_object() && (json.contains("range") || json.contains("log2")); }

// Objects are merged key by key; other values are replaced. Axes are replaced as a whole, because a mixture of `range`
// and `log2` is not an axis. A null value removes its key.
void merge_into(Json& base, const Json& changes) {
  for (const auto& [key, value] : changes.items()) {
    if (value.is_null()) {
      base.erase(key);
    } else if (value.is_object() && base.contains(key) && base[key].is_object() && !is_axis_form(value) &&
               !is_axis_form(base[key])) {
      merge_into(base[key], value);
    } else {
      base[key] = value;
    }
  }
}

// Returns the largest power of two that leaves at least a quarter of the memory for the metadata of allocators, the
// workload and the device heap.
std::uint64_t largest_pool(std::uint64_t memory_bytes) { return std::bit_floor(memory_bytes / 4 * 3); }

void fit_pool(Json& config, std::uint64_t memory_bytes) {
  if (!config.contains("pool") || config["pool"] != "fit" || !config.contains("pool_bytes")) return;
  const Json& pool = config["pool_bytes"];
  std::optional<std::uint64_t> wanted;
  if (pool.is_string()) wanted = parse_bytes(pool.get<std::string>());
  if (pool.is_number_unsigned()) wanted = pool.get<std::uint64_t>();
  if (wanted && *wanted > memory_bytes / 4 * 3) config["pool_bytes"] = format_bytes(largest_pool(memory_bytes));
}

// Replaces each set by the entries that it stands for.
void spread_sets(Json& config) {
  if (!config.contains("allocators") || !config["allocators"].is_array()) return;
  Json spread = Json::array();
  for (const Json& entry : config["allocators"]) {
    for (Json& each : entries_of(entry)) spread.push_back(std::move(each));
  }
  config["allocators"] = std::move(spread);
}

}  // namespace

std::vector<Json> entries_of(const Json& entry) {
  const Json& sets = schema_definition("allocatorSets");
  if (!entry.is_object() || !entry.contains("set") || !entry["set"].is_string()) return {entry};
  const std::string set = entry["set"];
  if (!sets.contains(set)) return {entry};
  std::vector<Json> entries;
  const Json without = entry.value("without", Json::array());
  for (const Json& id : sets[set]) {
    if (std::find(without.begin(), without.end(), id) != without.end()) continue;
    entries.push_back(entry.contains("parameters") ? Json{{"id", id}, {"parameters", entry["parameters"]}} : id);
  }
  return entries;
}

Json effective_config(const Json& document, std::string_view backend, const ConfigChanges& changes) {
  Json effective = merged_config(document, backend, changes);
  spread_sets(effective);
  return effective;
}

Json merged_config(const Json& document, std::string_view backend, const ConfigChanges& changes) {
  Json effective = document;
  const auto merge_section = [&](const std::string& section) {
    if (document.contains(section) && document[section].is_object()) merge_into(effective, document[section]);
  };
  merge_section(std::string(backend));
  if (changes.full) merge_section("full");
  for (const char* const section : {"cpu", "cuda", "full"}) effective.erase(section);
  if (changes.deadline_seconds) effective["deadline_s"] = *changes.deadline_seconds;
  if (changes.seed) effective["seed"] = *changes.seed;
  if (changes.memory_bytes) fit_pool(effective, *changes.memory_bytes);
  return effective;
}

}  // namespace allocbench::front
