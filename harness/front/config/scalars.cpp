#include "harness/front/config/scalars.hpp"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "harness/front/config/catalogue.hpp"
#include "harness/front/config/schema.hpp"

namespace allocbench::front {
namespace {

using Json = nlohmann::ordered_json;

// Returns nullopt unless the value of the key is one number or one of the listed words.
std::optional<ParameterInfo> scalar_from(const std::string& name, const SchemaNode& given) {
  const SchemaNode* node = &resolved(given);
  ParameterInfo info{.name = name, .description = node->value("description", "")};
  if (name.ends_with("_bytes") && node->contains("anyOf")) {
    info.unit = "B";
    node = &node->at("anyOf").front();  // the other form is the same number as a text
  }
  if (node->contains("enum")) {
    info.choices = node->at("enum").get<std::vector<std::string>>();
    info.default_value = info.choices.front();
    return info;
  }
  const std::string type = node->contains("type") && node->at("type").is_string() ? node->at("type") : Json("");
  if (type != "integer" && type != "number") return std::nullopt;
  if (type == "number") info.default_value = 0.0;
  if (name.ends_with("_s")) info.unit = "s";
  if (node->contains("minimum")) info.minimum = node->at("minimum");
  if (node->contains("maximum")) info.maximum = node->at("maximum");
  return info;
}

}  // namespace

const std::vector<ParameterInfo>& config_scalars() {
  static const std::vector<ParameterInfo> scalars = [] {
    std::vector<ParameterInfo> list;
    for (const auto& [name, node] : schema_definition("measurement").at("properties").items()) {
      if (auto scalar = scalar_from(name, node)) list.push_back(std::move(*scalar));
    }
    return list;
  }();
  return scalars;
}

const std::vector<std::string>& overridable_scalars() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list = schema_keys(schema_definition("overrides").at("additionalProperties"));
    std::erase_if(list, [](const std::string& key) { return find_entry(config_scalars(), key) == nullptr; });
    return list;
  }();
  return names;
}

void apply_scalar(std::string_view name, const ParameterValue& value, Settings& settings, Config& config) {
  const std::map<std::string_view, std::uint64_t*> counts = {
      {"pool_bytes", &settings.pool_bytes},        {"repetitions", &settings.repetitions},
      {"warmups", &settings.cell.warmups},         {"counted_passes", &settings.cell.counted_passes},
      {"aged_rounds", &settings.cell.aged_rounds}, {"rounds", &settings.rounds},
      {"least_rounds", &settings.least_rounds},    {"seed", &config.seed},
      {"trace_calls", &config.trace_calls}};
  const std::map<std::string_view, double*> numbers = {{"deadline_s", &settings.deadline_seconds},
                                                       {"wall_bound_s", &settings.wall_bound_seconds},
                                                       {"energy_s", &settings.cell.energy_seconds},
                                                       {"precision", &settings.precision}};
  const std::map<std::string_view, std::string*> words = {{"statistic", &config.statistic}, {"pool", &config.pool}};
  if (const auto number = numbers.find(name); number != numbers.end()) {
    *number->second = std::get<double>(value);
  } else if (const auto count = counts.find(name); count != counts.end()) {
    *count->second = std::get<std::uint64_t>(value);
  } else if (name == "state") {
    settings.cell.state = protocol::start_state_of(std::get<std::string>(value)).value();
  } else if (name == "l2") {
    settings.cell.l2 = protocol::l2_state_of(std::get<std::string>(value)).value();
  } else {
    *words.at(name) = std::get<std::string>(value);
  }
}

void check_rounds(const Settings& settings, const Json& json, const std::string& pointer, Problems& problems) {
  if (settings.least_rounds <= settings.rounds) return;
  const std::string key = json.contains("least_rounds") ? "least_rounds" : "rounds";
  if (!json.contains(key)) return;  // reported where the config has the key
  problems.add({pointer_to(pointer, key),
                fmt::format("at least {} rounds, but at most {}", settings.least_rounds, settings.rounds),
                "`least_rounds` not larger than `rounds`", ""});
}

}  // namespace allocbench::front
