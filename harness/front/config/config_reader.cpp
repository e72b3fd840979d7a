// The strict reader. Every method reads one part of the config, adds what is wrong with it and goes on.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "harness/front/common/json_text.hpp"
#include "harness/front/config/config.hpp"
#include "harness/front/config/sweep_reader.hpp"
#include "harness/front/config/value_reader.hpp"

namespace allocbench::front {
namespace {

using Json = nlohmann::ordered_json;

// Free keys are for people and plots; the reader checks only that they have the right JSON type.
const std::vector<std::string> text_keys = {"$schema", "name", "paper", "description"};
const std::vector<std::string> structure_keys = {"allocators", "workload", "sweep", "zip",    "exclude", "overrides",
                                                 "plot",       "assumed",  "notes", "claims", "cpu",     "cuda"};
const std::vector<std::string> overridable_scalars = {"pool_bytes",     "repetitions", "warmups",
                                                      "counted_passes", "state",       "deadline_s"};

// What the plots understand, as in configs/schema; their values are checked there and by the plots themselves.
const std::vector<std::string> plot_keys = {
    "kind",   "x",       "y",         "metric", "log",       "panels",  "panel_names", "row_names", "title",
    "xlabel", "ylabel",  "marks",     "series", "normalize", "configs", "printed",     "columns",   "rows",
    "notes",  "devices", "reference", "facts",  "kernels",   "theory",  "histogram",   "names",     "without",
    "rivals", "parity",  "phases",    "joined", "limits",    "bands"};

std::vector<std::string> joined(std::vector<std::string> names, const std::vector<std::string>& more) {
  names.insert(names.end(), more.begin(), more.end());
  return names;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

class ConfigReader {
 public:
  ConfigReader(const Json& json, const Catalogue& catalogue, Problems& problems)
      : json_(json), catalogue_(catalogue), problems_(problems) {}

  Config read() {
    check_keys(json_, "", joined(joined(text_keys, structure_keys), names_of(config_scalars())), "key");
    config_.backend = catalogue_.backend;
    read_texts();
    config_.only_draws = only_draws();
    if (config_.only_draws) return std::move(config_);
    read_settings();
    read_allocators();
    const SweepReader sweep_reader(json_, catalogue_, workload_, config_.allocators, problems_);
    config_.sweep = sweep_reader.axis_groups();
    config_.exclusions = sweep_reader.exclusions(config_.sweep);
    check_pool();
    read_overrides();
    read_plot();
    return std::move(config_);
  }

 private:
  void check_keys(const Json& object, const std::string& pointer, const std::vector<std::string>& valid,
                  std::string_view kind) {
    for (const auto& [key, value] : object.items()) {
      if (!contains(valid, key)) problems_.add_unknown(pointer_to(pointer, key), kind, key, valid);
    }
  }

  void wrong(const std::string& pointer, const Json& found, std::string allowed) {
    problems_.add({pointer, fmt::format("{}", found.dump()), std::move(allowed), ""});
  }
  void missing(const std::string& pointer, std::string_view key, std::string allowed) {
    problems_.add({pointer, fmt::format("the key \"{}\" is missing", key), std::move(allowed), ""});
  }

  // The part under a key when it has the right type; nullptr after adding a problem, or when there is none.
  const Json* object_at(const char* key) {
    if (!json_.contains(key)) return nullptr;
    if (!json_[key].is_object()) wrong(pointer_to("", key), json_[key], "an object");
    return json_[key].is_object() ? &json_[key] : nullptr;
  }
  const Json* list_at(const char* key) {
    if (!json_.contains(key)) return nullptr;
    if (!json_[key].is_array()) wrong(pointer_to("", key), json_[key], "a list");
    return json_[key].is_array() ? &json_[key] : nullptr;
  }

  void read_texts() {
    for (const std::string& key : text_keys) {
      if (json_.contains(key) && !json_[key].is_string()) wrong(pointer_to("", key), json_[key], "a text");
    }
    if (!json_.contains("name")) {
      missing("", "name", "the figure's name, as \"paper/figure\"");
    } else if (json_["name"].is_string()) {
      config_.name = json_["name"];
      // The name becomes a folder under results/.
      const bool portable = config_.name.find_first_not_of(
                                "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789_-./") == std::string::npos;
      if (config_.name.empty() || !portable || config_.name.front() == '/' ||
          config_.name.find("..") != std::string::npos) {
        wrong("/name", json_["name"], "letters, digits, _ - . and / between parts");
      }
    }
    if (const Json* assumed = list_at("assumed")) {
      for (std::size_t i = 0; i < assumed->size(); ++i) {
        if (!(*assumed)[i].is_string()) wrong(pointer_to("/assumed", i), (*assumed)[i], "a text");
      }
    }
    read_claims();
  }

  // The predicates are the plots' matter; a claim that does not say what and whose it is helps nobody.
  void read_claims() {
    const Json* claims = list_at("claims");
    if (claims == nullptr) return;
    for (std::size_t i = 0; i < claims->size(); ++i) {
      const Json& claim = (*claims)[i];
      const std::string place = pointer_to("/claims", i);
      if (!claim.is_object()) {
        wrong(place, claim, "an object");
        continue;
      }
      for (const char* key : {"says", "source"}) {
        if (!claim.contains(key)) {
          missing(place, key, "a text");
        } else if (!claim[key].is_string()) {
          wrong(pointer_to(place, key), claim[key], "a text");
        }
      }
    }
  }

  // Some tables of a paper are made of other configs.
  bool only_draws() const {
    return json_.contains("plot") && !json_.contains("allocators") && !json_.contains("workload");
  }

  void read_settings() {
    for (const Parameter& scalar : config_scalars()) {
      if (!json_.contains(scalar.name)) continue;
      const auto value = read_value(json_[scalar.name], scalar, pointer_to("", scalar.name), problems_);
      if (value) apply_scalar(scalar.name, *value, pointer_to("", scalar.name), settings_);
    }
    const Json* workload = object_at("workload");
    if (!json_.contains("workload")) missing("", "workload", "{\"id\": ..., parameters ...}");
    if (workload == nullptr) return;
    if (!workload->contains("id") || !(*workload)["id"].is_string()) {
      missing("/workload", "id", fmt::format("one of {}", fmt::join(names_of(catalogue_.workloads), ", ")));
      return;
    }
    config_.workload = (*workload)["id"];
    workload_ = find_entry(catalogue_.workloads, config_.workload);
    if (workload_ == nullptr) {
      problems_.add_unknown("/workload/id", "workload", config_.workload, names_of(catalogue_.workloads));
      return;
    }
    settings_.workload_parameters = defaults_of(workload_->parameters);
    for (auto& [name, value] : read_values(*workload, workload_->parameters, "id", "/workload", problems_)) {
      assign(settings_.workload_parameters, name, std::move(value));
    }
  }

  void apply_scalar(const std::string& name, const Value& value, const std::string& pointer, Settings& settings) {
    if (name == "pool_bytes") {
      settings.pool_bytes = std::get<std::uint64_t>(value);
      settings.pool_pointer = pointer;
    } else if (name == "repetitions") {
      settings.repetitions = std::get<std::uint64_t>(value);
    } else if (name == "warmups") {
      settings.warmups = std::get<std::uint64_t>(value);
    } else if (name == "counted_passes") {
      settings.counted_passes = std::get<std::uint64_t>(value);
    } else if (name == "state") {
      settings.state = std::get<std::string>(value);
    } else if (name == "deadline_s") {
      settings.deadline_seconds = std::get<double>(value);
    } else if (name == "rounds") {
      config_.rounds = std::get<std::uint64_t>(value);
    } else if (name == "statistic") {
      config_.statistic = std::get<std::string>(value);
    } else if (name == "seed") {
      config_.seed = std::get<std::uint64_t>(value);
    }
  }

  void read_allocators() {
    if (!json_.contains("allocators"))
      missing("", "allocators", "a list of ids or of {\"id\", \"parameters\", \"label\"}");
    const Json* list = list_at("allocators");
    if (list == nullptr) return;
    if (list->empty()) wrong("/allocators", *list, "at least one allocator");
    for (std::size_t i = 0; i < list->size(); ++i) read_allocator((*list)[i], pointer_to("/allocators", i));
    label_allocators();
  }

  void read_allocator(const Json& json, const std::string& pointer) {
    const std::string known = fmt::format("an id, {{\"id\", \"parameters\", \"label\"}} or \"all\"");
    if (json == "all") {
      for (const AllocatorEntry& entry : catalogue_.allocators) {
        if (!entry.test_only) add_allocator(entry, {}, "");
      }
      return;
    }
    if (!json.is_string() && !json.is_object()) return wrong(pointer, json, known);
    if (json.is_object()) check_keys(json, pointer, {"id", "parameters", "label"}, "key");
    if (json.is_object() && (!json.contains("id") || !json["id"].is_string())) return missing(pointer, "id", known);

    const std::string id = json.is_string() ? json : json["id"];
    const AllocatorEntry* entry = find_entry(catalogue_.allocators, id);
    if (entry == nullptr) {
      return problems_.add_unknown(json.is_string() ? pointer : pointer_to(pointer, "id"), "allocator", id,
                                   names_of(catalogue_.allocators));
    }
    NamedValues given;
    std::string label;
    if (json.is_object() && json.contains("parameters")) {
      given = read_values(json["parameters"], entry->parameters, "", pointer_to(pointer, "parameters"), problems_);
    }
    if (json.is_object() && json.contains("label")) {
      const bool usable = json["label"].is_string() && !json["label"].get<std::string>().empty() &&
                          json["label"].get<std::string>().find('/') == std::string::npos;
      if (!usable) return wrong(pointer_to(pointer, "label"), json["label"], "a text without \"/\"");
      label = json["label"];
    }
    add_allocator(*entry, given, label);
  }

  void add_allocator(const AllocatorEntry& entry, const NamedValues& given, std::string label) {
    AllocatorChoice& choice = config_.allocators.emplace_back();
    choice.id = entry.name;
    choice.label = std::move(label);
    choice.parameters = defaults_of(entry.parameters);
    for (const auto& [name, value] : given) assign(choice.parameters, name, value);
    choice.settings = settings_;
    given_.push_back(given);
  }

  // An id that stands alone names itself; one that is listed with several parameter sets names those as well.
  void label_allocators() {
    std::map<std::string, std::size_t> uses;
    for (const AllocatorChoice& choice : config_.allocators) ++uses[choice.id];
    std::map<std::string, std::size_t> labels;
    for (std::size_t i = 0; i < config_.allocators.size(); ++i) {
      AllocatorChoice& choice = config_.allocators[i];
      if (choice.label.empty()) {
        choice.label = choice.id;
        std::vector<std::string> parts;
        for (const auto& [name, value] : given_[i]) parts.push_back(fmt::format("{}={}", name, to_text(value)));
        if (uses[choice.id] > 1 && !parts.empty()) choice.label += fmt::format("({})", fmt::join(parts, ","));
        std::replace(choice.label.begin(), choice.label.end(), '/', '|');
      }
      if (++labels[choice.label] == 2) {
        problems_.add({"/allocators", fmt::format("\"{}\" for the second time", choice.label),
                       "each allocator once, or with different parameters or labels", ""});
      }
    }
  }

  void check_pool() {
    const auto sweeps_pool = [](const Json& axes) { return axes.is_object() && axes.contains("pool_bytes"); };
    bool given = json_.contains("pool_bytes") || (json_.contains("sweep") && sweeps_pool(json_["sweep"]));
    if (json_.contains("zip") && json_["zip"].is_array()) {
      given = given || std::any_of(json_["zip"].begin(), json_["zip"].end(), sweeps_pool);
    }
    if (!given) missing("", "pool_bytes", "a size such as \"64MiB\", here or as an axis");
  }

  void read_overrides() {
    const Json* overrides = object_at("overrides");
    if (overrides == nullptr) return;
    for (const auto& [id, partial] : overrides->items()) {
      const std::string pointer = pointer_to("/overrides", id);
      const AllocatorEntry* entry = find_entry(catalogue_.allocators, id);
      if (entry == nullptr) {
        problems_.add_unknown(pointer, "allocator", id, names_of(catalogue_.allocators));
        continue;
      }
      if (!partial.is_object()) {
        wrong(pointer, partial, "an object");
        continue;
      }
      check_keys(partial, pointer, joined({"parameters", "workload"}, overridable_scalars), "key");
      for (AllocatorChoice& choice : config_.allocators) {
        if (choice.id == id) override_choice(choice, *entry, partial, pointer);
      }
    }
  }

  void override_choice(AllocatorChoice& choice, const AllocatorEntry& entry, const Json& partial,
                       const std::string& pointer) {
    for (const std::string& name : overridable_scalars) {
      if (!partial.contains(name)) continue;
      const std::string place = pointer_to(pointer, name);
      const auto value = read_value(partial[name], *find_parameter(config_scalars(), name), place, problems_);
      if (value) apply_scalar(name, *value, place, choice.settings);
    }
    if (partial.contains("parameters")) {
      for (auto& [name, value] :
           read_values(partial["parameters"], entry.parameters, "", pointer_to(pointer, "parameters"), problems_)) {
        assign(choice.parameters, name, std::move(value));
      }
    }
    if (partial.contains("workload") && workload_ != nullptr) {
      for (auto& [name, value] :
           read_values(partial["workload"], workload_->parameters, "", pointer_to(pointer, "workload"), problems_)) {
        assign(choice.settings.workload_parameters, name, std::move(value));
      }
    }
  }

  void read_plot() {
    const Json* plot = object_at("plot");
    if (plot == nullptr) return;
    check_keys(*plot, "/plot", plot_keys, "key");
    if (!plot->contains("x") || !(*plot)["x"].is_string()) return;
    for (const AxisGroup& group : config_.sweep) {
      for (const Axis& axis : group.axes) {
        if (axis.name == (*plot)["x"]) config_.x_axis = axis.name;
      }
    }
  }

  const Json& json_;
  const Catalogue& catalogue_;
  Problems& problems_;
  Config config_;
  Settings settings_;
  const WorkloadEntry* workload_ = nullptr;
  std::vector<NamedValues> given_;  // parameters as written, per allocator, for labels
};

// Complaints about the effective config point into the file the user has: under the back end's section where the
// value came from there.
void point_into_file(const Json& document, const std::string& backend, Problems& problems) {
  if (!document.contains(backend)) return;
  for (Problem& problem : problems.list()) {
    if (problem.where.empty() || problem.where.front() != '/') continue;
    if (document[backend].contains(Json::json_pointer(problem.where))) problem.where = "/" + backend + problem.where;
  }
}

}  // namespace

const std::vector<Parameter>& config_scalars() {
  using enum ParameterType;
  static const std::vector<Parameter> scalars = {
      {.name = "pool_bytes", .type = integer, .unit = "B", .minimum = 1, .description = "memory the allocator manages"},
      {.name = "repetitions", .type = integer, .unit = "", .minimum = 1, .description = "samples per cell and round"},
      {.name = "warmups", .type = integer, .unit = "", .description = "untimed repetitions before the first sample"},
      {.name = "counted_passes",
       .type = integer,
       .unit = "",
       .minimum = 1,
       .description = "untimed passes that count steps"},
      {.name = "rounds", .type = integer, .unit = "", .minimum = 1, .description = "passes over all batches"},
      {.name = "statistic", .type = string, .unit = "", .choices = {"median", "mean"}, .description = "of the samples"},
      {.name = "state", .type = string, .unit = "", .choices = {"fresh", "reused"}, .description = "before a sample"},
      {.name = "deadline_s", .type = number, .unit = "s", .minimum = 0.01, .description = "time a cell may use"},
      {.name = "seed", .type = integer, .unit = "", .description = "of requests, order and bootstrap"}};
  return scalars;
}

Config read_config(std::string_view text, const std::string& path, const Catalogue& catalogue,
                   const ConfigChanges& changes, Problems& problems) {
  const Json document = parse_strictly(text, problems);
  if (!problems.empty()) return {};
  if (!document.is_object()) {
    problems.add({"", fmt::format("{}", document.dump()), "an object", ""});
    return {};
  }
  const auto keys = joined(joined(text_keys, structure_keys), names_of(config_scalars()));
  for (const std::string section : {"cpu", "cuda"}) {
    if (!document.contains(section)) continue;
    if (!document[section].is_object()) {
      problems.add({"/" + section, fmt::format("{}", document[section].dump()), "an object", ""});
      continue;
    }
    // The other back end's values cannot be checked without its worker, its keys can.
    for (const auto& [key, value] : document[section].items()) {
      if (section != catalogue.backend && !contains(keys, key)) {
        problems.add_unknown(pointer_to("/" + section, key), "key", key, keys);
      }
    }
  }
  const Json effective = effective_config(document, catalogue.backend, changes);
  Config config = ConfigReader(effective, catalogue, problems).read();
  point_into_file(document, catalogue.backend, problems);
  config.path = path;
  config.effective_text = effective.dump();
  return config;
}

}  // namespace allocbench::front
