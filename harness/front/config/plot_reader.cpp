#include "harness/front/config/plot_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/front/config/schema.hpp"

namespace allocbench::front {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view relative = "relative_";  // prefix of a metric

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void add_all(std::vector<std::string>& names, const std::vector<std::string>& more) {
  for (const std::string& name : more) {
    if (!contains(names, name)) names.push_back(name);
  }
}

class NameChecker {
 public:
  NameChecker(const Drawable& results, Problems& problems) : results_(results), problems_(problems) {
    phases_ = {"", "total"};
    if (results.workload != nullptr) {
      add_all(phases_, results.workload->phases);
      kernels_ = phases_;
      add_all(kernels_, results.workload->untimed_kernels);
    }
    metrics_ = names_of(results.catalogue.metrics);
    add_all(metrics_, schema_definition("derivedMetric").at("enum").get<std::vector<std::string>>());
    settings_ = {"allocator", "pool_bytes"};
    for (const AxisGroup& group : results.config.sweep) {
      for (const Axis& axis : group.axes) add_all(settings_, {axis.name});
    }
    if (results.workload != nullptr) add_all(settings_, names_of(results.workload->parameters));
    for (const AllocatorChoice& choice : results.config.allocators) {
      add_all(allocators_, {choice.id, choice.label});
      for (const auto& [name, value] : choice.parameters) add_all(settings_, {name, "allocator." + name});
    }
  }

  // Checks every name in `json` whose node has "names". `metric` is the metric of the enclosing object.
  void check(const Json& given, const Json& json, const std::string& pointer, const Json& metric = {}) const {
    const Json& node = resolved(given);
    const Json& naming = given.contains("names") ? given : node;
    if (naming.contains("names")) check_names(naming["names"], json, pointer, metric);
    if (json.is_object()) check_members(node, json, pointer, json.value("metric", metric));
    if (json.is_array() && node.contains("items")) {
      for (std::size_t i = 0; i < json.size(); ++i) check(node["items"], json[i], pointer_to(pointer, i), metric);
    }
    for (const char* key : {"allOf", "anyOf", "oneOf"}) {
      for (const Json& branch : node.value(key, Json::array())) check(branch, json, pointer, metric);
    }
  }

 private:
  void check_members(const Json& node, const Json& json, const std::string& pointer, const Json& metric) const {
    const Json properties = node.value("properties", Json::object());
    const Json others = node.value("additionalProperties", Json());
    for (const auto& [key, value] : json.items()) {
      const std::string place = pointer_to(pointer, key);
      if (node.contains("propertyNames")) check(node["propertyNames"], key, place);
      if (properties.contains(key)) {
        check(properties[key], value, place, metric);
      } else if (others.is_object()) {
        check(others, value, place, metric);
      }
    }
  }

  void check_names(const std::string& what, const Json& json, const std::string& pointer, const Json& metric) const {
    for (std::size_t i = 0; json.is_array() && i < json.size(); ++i)
      check_names(what, json[i], pointer_to(pointer, i), metric);
    if (!json.is_string()) return;  // the schema reports it
    const auto name = json.get<std::string>();
    const bool workload_known = results_.workload != nullptr;
    // Untimed kernels also have registers and local memory.
    const bool of_kernel = metric == "registers" || metric == "local_bytes";
    if (what == "setting" && workload_known && results_.allocators_known) {
      check_name(name, pointer, "setting", settings_);
    } else if (what == "metric") {
      check_name(name.starts_with(relative) && contains(metrics_, name.substr(relative.size())) ? metrics_[0] : name,
                 pointer, "metric", metrics_);
    } else if (what == "kernel" || (what == "phase or kernel" && of_kernel)) {
      if (workload_known) check_name(name, pointer, "kernel", kernels_);
    } else if (what == "phase" || what == "phase or kernel") {
      if (workload_known) check_name(name, pointer, "phase", phases_);
    } else if (what == "reference" && (name == "baseline" || name == "baselines")) {
      check_names("phase", "baseline", pointer, metric);  // both refer to phases with the name `baseline`
    } else if ((what == "reference" && name != "best") || what == "allocator") {
      if (results_.allocators_known) check_name(name, pointer, "allocator of this config", allocators_);
    }
  }

  void check_name(const std::string& name, const std::string& pointer, const char* kind,
                  const std::vector<std::string>& valid) const {
    if (!contains(valid, name)) problems_.add_unknown(pointer, kind, name, valid);
  }

  const Drawable& results_;
  Problems& problems_;
  std::vector<std::string> phases_;
  std::vector<std::string> kernels_;  // phases, and kernels that no phase times
  std::vector<std::string> metrics_;
  std::vector<std::string> settings_;
  std::vector<std::string> allocators_;
};

}  // namespace

void check_plot_names(const Json& plot, const Drawable& results, Problems& problems) {
  if (!plot.is_object()) return;
  Json node;  // keys of the plot's kind; if the kind is wrong, the keys of all kinds
  for (const Json& branch : schema_definition("measurement")["properties"]["plot"]["oneOf"]) {
    const Json& properties = resolved(branch)["properties"];
    node["properties"].update(properties);
    if (properties["kind"]["const"] != plot.value("kind", Json())) continue;
    node["properties"] = properties;
    break;
  }
  NameChecker(results, problems).check(node, plot, "/plot");
}

void check_claim_names(const Json& claims, const Drawable& results, Problems& problems) {
  if (!claims.is_array()) return;
  const NameChecker names(results, problems);
  for (std::size_t i = 0; i < claims.size(); ++i) {
    const Json& claim = claims[i];
    if (!claim.is_object() || claim.value("backend", Json("cuda")) != results.config.backend) continue;
    names.check(schema_definition("claims").at("items"), claim, pointer_to("/claims", i));
  }
}

bool shows_counts(const Json& config, const std::vector<protocol::MetricDescription>& metrics) {
  const auto is_counted = [&](const std::string& text) {
    return std::ranges::any_of(metrics, [&](const protocol::MetricDescription& metric) {
      return metric.source == "counted" && (text == metric.name || text == "relative_" + metric.name);
    });
  };
  for (const char* const part : {"plot", "claims"}) {
    if (!config.contains(part)) continue;
    if (config[part].is_object() && config[part].contains("histogram")) return true;
    const Json leaves = config[part].flatten();
    for (const auto& [pointer, value] : leaves.items()) {
      if (value.is_string() && is_counted(value.get<std::string>())) return true;
    }
  }
  return false;
}

}  // namespace allocbench::front
