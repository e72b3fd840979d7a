#include "harness/front/config/plot_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/front/config/schema.hpp"

namespace allocbench::front {
namespace {

using Json = nlohmann::ordered_json;

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

  void setting(const Json& json, const std::string& pointer) const {
    if (results_.workload != nullptr && results_.allocators_known) check(json, pointer, "setting", settings_);
  }
  void phase(const Json& json, const std::string& pointer) const {
    if (results_.workload != nullptr) check(json, pointer, "phase", phases_);
  }
  void kernel(const Json& json, const std::string& pointer) const {
    if (results_.workload != nullptr) check(json, pointer, "kernel", kernels_);
  }
  // The phase beside a metric: registers and local memory are known of untimed kernels, too.
  void phase_of(const Json& effect, const Json& metric, const std::string& pointer) const {
    const bool of_kernel = metric == "registers" || metric == "local_bytes";
    each(effect, "phase", pointer, of_kernel ? &NameChecker::kernel : &NameChecker::phase);
  }
  void metric(const Json& json, const std::string& pointer) const {
    constexpr std::string_view relative = "relative_";
    const bool is_relative = json.is_string() && json.get_ref<const std::string&>().starts_with(relative);
    if (is_relative && contains(metrics_, json.get<std::string>().substr(relative.size()))) return;
    check(json, pointer, "metric", metrics_);
  }
  void allocator(const Json& json, const std::string& pointer) const {
    if (results_.allocators_known) check(json, pointer, "allocator of this config", allocators_);
  }

  using Member = void (NameChecker::*)(const Json&, const std::string&) const;

  // A name or a list of them under a key.
  void each(const Json& object, const char* key, const std::string& pointer, Member member) const {
    if (!object.is_object() || !object.contains(key)) return;
    const Json& json = object[key];
    const std::string place = pointer_to(pointer, key);
    if (!json.is_array()) return (this->*member)(json, place);
    for (std::size_t i = 0; i < json.size(); ++i) (this->*member)(json[i], pointer_to(place, i));
  }
  // The keys of an object under a key.
  void keys(const Json& object, const char* key, const std::string& pointer, Member member) const {
    if (!object.is_object() || !object.contains(key) || !object[key].is_object()) return;
    const std::string place = pointer_to(pointer, key);
    for (const auto& [name, value] : object[key].items()) (this->*member)(name, pointer_to(place, name));
  }

  // One side of an effect: an allocator, a list of them, or an object that says more.
  void side(const Json& effect, const char* key, const std::string& pointer) const {
    if (!effect.contains(key)) return;
    const Json& json = effect[key];
    const std::string place = pointer_to(pointer, key);
    if (!json.is_object()) return each(effect, key, pointer, &NameChecker::allocator);
    each(json, "allocator", place, &NameChecker::allocator);
    keys(json, "where", place, &NameChecker::setting);
    phase_of(json, json.value("metric", effect.value("metric", Json())), place);
    each(json, "metric", place, &NameChecker::metric);
  }

 private:
  // What is not a text is the schema's complaint.
  void check(const Json& json, const std::string& pointer, const char* kind,
             const std::vector<std::string>& valid) const {
    if (!json.is_string() || contains(valid, json.get<std::string>())) return;
    problems_.add_unknown(pointer, kind, json.get<std::string>(), valid);
  }

  const Drawable& results_;
  Problems& problems_;
  std::vector<std::string> phases_;
  std::vector<std::string> kernels_;  // the phases and the kernels that no phase times
  std::vector<std::string> metrics_;
  std::vector<std::string> settings_;
  std::vector<std::string> allocators_;
};

}  // namespace

void check_plot_names(const Json& plot, const Drawable& results, Problems& problems) {
  if (!plot.is_object()) return;
  const NameChecker names(results, problems);
  for (const char* key : {"x", "panels"}) names.each(plot, key, "/plot", &NameChecker::setting);
  if (plot.contains("rows") && plot["rows"].is_string()) names.each(plot, "rows", "/plot", &NameChecker::setting);
  if (plot.value("kind", Json()) == "scene_table") names.each(plot, "columns", "/plot", &NameChecker::setting);
  names.each(plot, "y", "/plot", &NameChecker::phase);
  names.each(plot, "kernels", "/plot", &NameChecker::kernel);
  for (const char* key : {"metric", "facts"}) names.each(plot, key, "/plot", &NameChecker::metric);
  // "best" is the smallest value of all allocators, "baseline" the phase of that name, "baselines" the median of these.
  const Json reference = plot.value("reference", Json());
  if (reference == "baseline" || reference == "baselines") {
    names.each({{"reference", "baseline"}}, "reference", "/plot", &NameChecker::phase);
  } else if (reference != "best") {
    names.each(plot, "reference", "/plot", &NameChecker::allocator);
  }
  names.each(plot, "parity", "/plot", &NameChecker::setting);
  names.keys(plot, "limits", "/plot", &NameChecker::metric);
  for (const char* key : {"marks", "bands", "positions"}) {
    if (!plot.contains(key) || !plot[key].is_array()) continue;
    for (std::size_t i = 0; i < plot[key].size(); ++i) {
      const std::string place = pointer_to(pointer_to("/plot", key), i);
      names.each(plot[key][i], "metric", place, &NameChecker::metric);
      names.each(plot[key][i], "phase", place, &NameChecker::phase);
      names.keys(plot[key][i], "where", place, &NameChecker::setting);
    }
  }
}

void check_claim_names(const Json& claims, const Drawable& results, Problems& problems) {
  if (!claims.is_array()) return;
  const NameChecker names(results, problems);
  for (std::size_t i = 0; i < claims.size(); ++i) {
    const Json& claim = claims[i];
    if (!claim.is_object() || claim.value("backend", Json("cuda")) != results.config.backend) continue;
    const std::string place = pointer_to("/claims", i);
    names.keys(claim, "where", place, &NameChecker::setting);
    for (const char* effect : {"ratio", "growth", "straight", "step", "crossing", "value", "share", "theory",
                               "unexplained", "correlation"}) {
      if (!claim.contains(effect) || !claim[effect].is_object()) continue;
      const std::string inside = pointer_to(place, effect);
      for (const char* key : {"of", "to", "over", "against"}) names.side(claim[effect], key, inside);
      names.phase_of(claim[effect], claim[effect].value("metric", Json()), inside);
      for (const char* key : {"metric", "by", "rather_than"})
        names.each(claim[effect], key, inside, &NameChecker::metric);
      names.each(claim[effect], "along", inside, &NameChecker::setting);
    }
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
