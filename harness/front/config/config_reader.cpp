// This is the strict reader of configs. Every method reads one part of the config, adds the mistakes of this part and
// continues.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/front/common/nearest_name.hpp"
#include "harness/front/config/allocator_reader.hpp"
#include "harness/front/config/config.hpp"
#include "harness/front/config/plot_reader.hpp"
#include "harness/front/config/scalars.hpp"
#include "harness/front/config/schema.hpp"
#include "harness/front/config/sweep_reader.hpp"
#include "harness/front/config/value_reader.hpp"
#include "protocol/parameter_values.hpp"

namespace allocbench::front {
namespace {

using Json = nlohmann::ordered_json;

// Returns whether the part defines what is measured. Such parts are read here and checked against the catalogues of the
// workers. The schema checks all others.
bool is_measured_part(const std::string& key) {
  static const std::vector<std::string> parts = {"allocators", "workload", "sweep", "zip", "exclude",
                                                 "overrides",  "cpu",      "cuda",  "full"};
  return std::find(parts.begin(), parts.end(), key) != parts.end() || find_entry(config_scalars(), key) != nullptr;
}

// Returns whether the config measures nothing, because its table comes from the results of other configs.
bool only_draws(const Json& json) {
  return json.contains("plot") && !json.contains("allocators") && !json.contains("workload");
}

// Checks what does not depend on a back end: names of keys, texts, notes, and the forms of plot and claims.
void check_common_parts(const Json& document, Problems& problems) {
  if (only_draws(document)) return check_against(schema_definition("tableOnly"), document, "", problems);
  const SchemaNode& node = schema_definition("measurement");
  problems.add_unknown_keys("", "key", document, schema_keys(node));
  if (!document.contains("name")) problems.add_missing("", "name", "the figure's name, as \"paper/figure\"");
  for (const auto& [key, json] : document.items()) {
    if (is_measured_part(key) || !node.at("properties").contains(key)) continue;
    check_against(node.at("properties").at(key), json, pointer_to("", key), problems);
  }
  for (const std::string section : {"cpu", "cuda", "full"}) {
    if (!document.contains(section)) continue;
    if (!document[section].is_object()) {
      problems.add_wrong("/" + section, document[section], "an object");
    } else {
      problems.add_unknown_keys("/" + section, "key", document[section], schema_keys(schema_definition("backEnd")));
    }
  }
}

// Reads one back end's effective config.
class MeasurementReader {
 public:
  MeasurementReader(const Json& json, const std::string& backend, const Names& names, Problems& problems)
      : json_(json), names_(names), problems_(problems) {
    config_.backend = backend;
    settings_.rounds = default_rounds(backend);
  }

  Config read() {
    if (json_.contains("name") && json_["name"].is_string()) config_.name = json_["name"];
    config_.only_draws = only_draws(json_);
    if (config_.only_draws) return std::move(config_);
    read_scalars();
    read_workload();
    config_.allocators = AllocatorReader(json_, names_, workload_, settings_, problems_).read();
    const SweepReader sweep_reader(json_, names_.catalogue, workload_, config_.allocators, problems_);
    config_.sweep = sweep_reader.axis_groups();
    config_.exclusions = sweep_reader.exclusions(config_.sweep);
    check_pool();
    check_ageing();
    read_drawing();
    return std::move(config_);
  }

 private:
  void read_scalars() {
    for (const ParameterInfo& scalar : config_scalars()) {
      if (!json_.contains(scalar.name)) continue;
      const std::string pointer = pointer_to("", scalar.name);
      const auto value = read_value(json_[scalar.name], scalar, pointer, problems_);
      if (value) apply_scalar(scalar.name, *value, settings_, config_);
    }
    check_rounds(settings_, json_, "", problems_);
    if (json_.contains("trace") && json_["trace"].is_string())
      config_.trace = json_["trace"];  // the schema checks its form
    if (json_.contains("trace_calls") && !json_.contains("trace")) {
      problems_.add({"/trace_calls", "no trace is recorded", "`trace_calls` only together with `trace`", ""});
    }
  }

  void read_workload() {
    if (!json_.contains("workload")) return problems_.add_missing("", "workload", "{\"id\": ..., parameters ...}");
    const Json& workload = json_["workload"];
    const auto valid = names_of(names_.catalogue.workloads);
    if (!workload.is_object()) return problems_.add_wrong("/workload", workload, form_of_workload(workload, valid));
    if (!workload.contains("id") || !workload["id"].is_string()) {
      problems_.add_missing("/workload", "id", fmt::format("one of {}", fmt::join(valid, ", ")));
      return check_parameter_names(workload);
    }
    config_.workload = workload["id"];
    workload_ = find_entry(names_.catalogue.workloads, config_.workload);
    if (workload_ == nullptr && names_.complete) {
      problems_.add_unknown("/workload/id", "workload", config_.workload, valid);
      // Continues with the workload of the nearest name, so that the parameters are checked, too.
      workload_ = find_entry(names_.catalogue.workloads, nearest_name(config_.workload, valid));
      if (workload_ == nullptr) check_parameter_names(workload);
    }
    if (workload_ == nullptr) return;
    settings_.workload_parameters = defaults_of(workload_->parameters);
    for (auto& [name, value] : read_values(workload, workload_->parameters, "id", "/workload", problems_)) {
      protocol::assign_value(settings_.workload_parameters, name, std::move(value));
    }
  }

  // Returns the form of a workload, with the id that a text names or nearly names.
  static std::string form_of_workload(const Json& found, const std::vector<std::string>& valid) {
    const std::string text = found.is_string() ? found.get<std::string>() : "";
    const std::string nearest = nearest_name(text, valid);
    return fmt::format("an object with the workload's id and parameters, such as {{\"id\": \"{}\"}}",
                       nearest.empty() ? "alloc_free" : nearest);
  }

  // Reports parameters that no workload has. If the workload is unknown, only such parameters are certainly wrong.
  void check_parameter_names(const Json& workload) {
    std::vector<std::string> valid = {"id"};
    for (const protocol::WorkloadDescription& each : names_.catalogue.workloads) {
      for (const std::string& name : names_of(each.parameters)) {
        if (std::find(valid.begin(), valid.end(), name) == valid.end()) valid.push_back(name);
      }
    }
    problems_.add_unknown_keys("/workload", "parameter", workload, valid);
  }

  void check_pool() {
    const auto sweeps_pool = [](const Json& axes) { return axes.is_object() && axes.contains("pool_bytes"); };
    bool swept = json_.contains("sweep") && sweeps_pool(json_["sweep"]);
    if (json_.contains("zip") && json_["zip"].is_array()) {
      swept = swept || std::any_of(json_["zip"].begin(), json_["zip"].end(), sweeps_pool);
    }
    if (!swept && !json_.contains("pool_bytes"))
      problems_.add_missing("", "pool_bytes", "a size such as \"64MiB\", here or as an axis");
    if (swept && config_.pool == "fit") {
      problems_.add({"/pool", "\"fit\" together with a swept pool",
                     "one `pool_bytes` in the config, because \"fit\" makes all pools equal", ""});
    }
  }

  // Reports rounds of ageing in a config without an aged cell.
  void check_ageing() {
    std::string pointer;
    bool aged = std::any_of(config_.allocators.begin(), config_.allocators.end(), [](const AllocatorChoice& each) {
      return each.settings.cell.state == protocol::StartState::aged;
    });
    for (const AxisGroup& group : config_.sweep) {
      for (const Axis& axis : group.axes) {
        if (axis.name == "aged_rounds") pointer = axis.pointer;
        if (axis.name != "state") continue;
        aged = aged || std::find(axis.values.begin(), axis.values.end(), ParameterValue(std::string("aged"))) !=
                           axis.values.end();
      }
    }
    if (json_.contains("aged_rounds")) pointer = "/aged_rounds";
    if (!pointer.empty() && !aged)
      problems_.add(
          {pointer, "no cell has the state aged", "`aged_rounds` only together with \"state\": \"aged\"", ""});
  }

  void read_drawing() {
    const Drawable results{config_, names_.catalogue, workload_, names_.complete};
    if (json_.contains("claims")) check_claim_names(json_["claims"], results, problems_);
    if (!json_.contains("plot") || !json_["plot"].is_object()) return;
    const Json& plot = json_["plot"];
    check_plot_names(plot, results, problems_);
    if (!plot.contains("x") || !plot["x"].is_string()) return;
    for (const AxisGroup& group : config_.sweep) {
      for (const Axis& axis : group.axes) {
        if (plot["x"] == axis.name) config_.x_axis = axis.name;
      }
    }
  }

  const Json& json_;
  const Names& names_;
  Problems& problems_;
  Config config_;
  Settings settings_;
  const protocol::WorkloadDescription* workload_ = nullptr;
};

// Makes errors in the effective config point into the user's file: into the section (`cpu`, `cuda` or `full`) if the
// value came from there.
void point_into_file(const Json& document, const std::string& backend, Problems& problems) {
  if (!document.contains(backend)) return;
  for (Problem& problem : problems.list()) {
    if (problem.where.empty() || problem.where.front() != '/') continue;
    try {
      if (document[backend].contains(Json::json_pointer(problem.where))) problem.where = "/" + backend + problem.where;
    } catch (const Json::exception&) {
      // If a key was cut or cannot be an index, the pointer is not changed.
    }
  }
}

// Reads the config again with a section (that of the other back end, or `full`). Returns only the mistakes in this
// section and, for a back end, in the claims.
Problems problems_in_section(const Json& document, const std::string& section, const std::string& backend,
                             const ConfigChanges& changes, const Names& names) {
  Problems all;
  const Json merged = merged_config(document, backend, changes);
  MeasurementReader(merged, backend, names, all).read();
  point_into_file(document, section, all);
  Problems own;
  for (const Problem& problem : all.list()) {
    const bool of_claims = section == backend && problem.where.starts_with("/claims/");
    if (of_claims || problem.where.starts_with("/" + section + "/")) own.add(problem);
  }
  return own;
}

}  // namespace

Config read_config(std::string_view text, const std::string& path, const Catalogues& catalogues,
                   const ConfigChanges& changes, Problems& problems) {
  const Json document = parse_strictly(text, problems);
  if (!problems.empty()) return {};
  if (!document.is_object()) {
    problems.add_wrong("", document, "an object");
    return {};
  }
  check_common_parts(document, problems);
  const std::string& backend = catalogues.chosen.backend;
  const std::string other = backend == "cpu" ? "cuda" : "cpu";
  const Json merged = merged_config(document, backend, changes);
  const Names names{catalogues.chosen, catalogues.other, true};
  Problems measured;
  Config config = MeasurementReader(merged, backend, names, measured).read();
  if (changes.full) point_into_file(document, "full", measured);
  point_into_file(document, backend, measured);
  problems.add_new(measured);
  if (!changes.full && document.contains("full")) {
    problems.add_new(problems_in_section(document, "full", backend, {.full = true}, names));
  }
  const Names other_names{catalogues.other != nullptr ? *catalogues.other : catalogues.chosen, &catalogues.chosen,
                          catalogues.other != nullptr};
  problems.add_new(problems_in_section(document, other, other, {}, other_names));
  config.path = path;
  // Times of the CPU executor are never shown as performance, so on the CPU back end verification may take any time.
  config.verifies_fully = backend == "cpu" || changes.verifies_fully || shows_counts(merged, catalogues.chosen.metrics);
  config.effective = std::make_shared<const Json>(effective_config(document, backend, changes));
  return config;
}

}  // namespace allocbench::front
