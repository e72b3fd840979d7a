#include "harness/front/config/allocator_reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/front/common/nearest_name.hpp"
#include "harness/front/config/scalars.hpp"
#include "harness/front/config/schema.hpp"
#include "harness/front/config/value_reader.hpp"
#include "protocol/parameter_values.hpp"

namespace allocbench::front {
namespace {

using Json = nlohmann::ordered_json;

const Json& entry_node() { return schema_definition("allocators").at("items").at("anyOf").at(1); }
const Json& set_node() { return schema_definition("allocators").at("items").at("anyOf").at(2); }

// Returns the unusable plug-in that may define an allocator, or null if there is none. The plug-in has the allocator's
// name or the beginning of this name before an underscore, such as "saboteur" for "saboteur_null".
const protocol::BrokenPlugin* plugin_that_may_have(const std::string& name,
                                                   const std::vector<protocol::BrokenPlugin>& plugins) {
  const protocol::BrokenPlugin* best = nullptr;
  for (const protocol::BrokenPlugin& each : plugins) {
    const bool may_have = name == each.plugin || name.starts_with(each.plugin + "_");
    if (may_have && (best == nullptr || each.plugin.size() > best->plugin.size())) best = &each;
  }
  return best;
}

void check_set(const Json& json, const std::string& pointer, Problems& problems) {
  const std::size_t before = problems.size();
  check_against(set_node(), json, pointer, problems);
  if (!json.contains("without") || problems.size() != before) return;
  const std::string set = json["set"];
  const auto ids = schema_definition("allocatorSets").at(set).get<std::vector<std::string>>();
  for (std::size_t i = 0; i < json["without"].size(); ++i) {
    const std::string id = json["without"][i];
    if (std::find(ids.begin(), ids.end(), id) == ids.end()) {
      problems.add_unknown(pointer_to(pointer_to(pointer, "without"), i), "allocator of this set", id, ids);
    }
  }
}

}  // namespace

AllocatorReader::AllocatorReader(const Json& config, const Names& names, const protocol::WorkloadDescription* workload,
                                 const Settings& settings, Problems& problems)
    : config_(config), names_(names), workload_(workload), settings_(settings), problems_(problems) {}

std::vector<AllocatorChoice> AllocatorReader::read() {
  const std::string wanted =
      "a list of ids, of {\"id\", \"parameters\", \"label\"} or of {\"set\", \"without\", \"parameters\"}";
  if (!config_.contains("allocators")) {
    problems_.add_missing("", "allocators", wanted);
  } else if (const Json& list = config_["allocators"]; !list.is_array()) {
    problems_.add_wrong("/allocators", list, wanted);
  } else if (const std::size_t most = schema_definition("allocators").at("maxItems"); list.size() > most) {
    problems_.add({"/allocators", fmt::format("{} entries", list.size()), fmt::format("at most {}", most), ""});
  } else {
    if (list.empty()) problems_.add_wrong("/allocators", list, "at least one allocator");
    for (std::size_t i = 0; i < list.size(); ++i) read_entries(list[i], pointer_to("/allocators", i));
  }
  label_choices();
  read_overrides();
  return std::move(choices_);
}

void AllocatorReader::read_entries(const Json& json, const std::string& pointer) {
  const std::size_t before = problems_.size();
  if (json.is_object() && json.contains("set")) check_set(json, pointer, problems_);
  if (problems_.size() != before) return;
  for (const Json& entry : entries_of(json)) {
    read_entry(entry, pointer);
    if (problems_.size() != before) return;  // other allocators of a set usually have the same mistake
  }
}

void AllocatorReader::read_entry(const Json& json, const std::string& pointer) {
  if (json == "all") {
    for (const protocol::AllocatorDescription& allocator : names_.catalogue.allocators) {
      // Without delays a delayed form is the same as its base, so it is left out.
      if (!allocator.test_only && allocator.form != "delayed") add_choice(allocator, {}, "");
    }
    return;
  }
  const std::string wanted =
      "an id, {\"id\", \"parameters\", \"label\"}, {\"set\", \"without\", \"parameters\"} or \"all\"";
  if (!json.is_string() && !json.is_object()) return problems_.add_wrong(pointer, json, wanted);
  if (json.is_object()) {
    problems_.add_unknown_keys(pointer, "key", json, schema_keys(entry_node()));
    if (!json.contains("id") || !json["id"].is_string()) return problems_.add_missing(pointer, "id", wanted);
  }
  const std::string id = json.is_string() ? json : json["id"];
  const protocol::AllocatorDescription* allocator = known(id, json.is_string() ? pointer : pointer_to(pointer, "id"));
  if (allocator == nullptr) return;
  ParameterValues given;
  std::string label;
  if (json.is_object() && json.contains("parameters")) {
    given = read_values(json["parameters"], allocator->parameters, "", pointer_to(pointer, "parameters"), problems_);
  }
  if (json.is_object() && json.contains("label")) {
    const std::size_t before = problems_.size();
    check_against(entry_node().at("properties").at("label"), json["label"], pointer_to(pointer, "label"), problems_);
    if (problems_.size() != before) return;
    label = json["label"];
  }
  // A suggested allocator keeps the unknown name, so that it is no duplicate of an allocator that the config lists.
  if (label.empty() && allocator->name != id) label = id;
  add_choice(*allocator, given, label);
}

// Returns the allocator with this id. If there is none and the catalogue is complete, adds a problem. If this problem
// suggests another id, returns the allocator with that id, so that its parameters are also checked. Otherwise returns
// null.
const protocol::AllocatorDescription* AllocatorReader::known(const std::string& id, const std::string& pointer) {
  if (const auto* allocator = find_entry(names_.catalogue.allocators, id)) return allocator;
  if (!names_.complete) return nullptr;
  const auto valid = names_of(names_.catalogue.allocators);
  const auto* elsewhere = names_.other == nullptr ? nullptr : find_entry(names_.other->allocators, id);
  const std::string plugin = elsewhere == nullptr || elsewhere->plugin.empty() ? id : elsewhere->plugin;
  if (const auto* broken = plugin_that_may_have(plugin, names_.catalogue.broken_plugins)) {
    const char* perhaps = broken->plugin == plugin ? "" : "perhaps ";
    problems_.add({pointer, fmt::format("\"{}\", {}of the plug-in {}, which is unusable", id, perhaps, broken->plugin),
                   fmt::format("{}. The plug-in: {}", fmt::join(valid, ", "), broken->reason), ""});
    return nullptr;
  }
  if (elsewhere != nullptr) {
    problems_.add({pointer, fmt::format("\"{}\", which works on the {} back end only", id, names_.other->backend),
                   fmt::format("{}", fmt::join(valid, ", ")), ""});
    return nullptr;
  }
  if (id.ends_with("_original")) {
    problems_.add({pointer, fmt::format("\"{}\", the authors' own code, which is not in this build", id),
                   "the names of `allocbench list allocators`; peers/README.md says how to add the originals", ""});
    return nullptr;
  }
  problems_.add_unknown(pointer, "allocator", id, valid);
  return find_entry(names_.catalogue.allocators, nearest_name(id, valid));
}

void AllocatorReader::add_choice(const protocol::AllocatorDescription& allocator, const ParameterValues& given,
                                 std::string label) {
  AllocatorChoice& choice = choices_.emplace_back();
  choice.id = allocator.name;
  choice.label = std::move(label);
  choice.parameters = defaults_of(allocator.parameters);
  for (const auto& [name, value] : given) protocol::assign_value(choice.parameters, name, value);
  choice.settings = settings_;
  given_.push_back(given);
}

// Labels the choices that the config does not label. If an id is listed once, the id is the label. If it is listed
// several times, each label also has the parameters that the config gives to its entry.
void AllocatorReader::label_choices() {
  std::map<std::string, std::size_t> uses;
  for (const AllocatorChoice& choice : choices_) ++uses[choice.id];
  std::map<std::string, std::size_t> labels;
  for (std::size_t i = 0; i < choices_.size(); ++i) {
    AllocatorChoice& choice = choices_[i];
    if (choice.label.empty()) {
      choice.label = choice.id;
      std::vector<std::string> parts;
      for (const auto& [name, value] : given_[i]) parts.push_back(fmt::format("{}={}", name, to_text(value)));
      if (uses[choice.id] > 1 && !parts.empty()) choice.label += fmt::format("({})", fmt::join(parts, ","));
      std::replace(choice.label.begin(), choice.label.end(), '/', '|');
    }
    if (++labels[choice.label] == 2) {
      problems_.add({"/allocators", fmt::format("duplicate allocator \"{}\"", choice.label),
                     "each allocator once, or several times with different parameters or labels", ""});
    }
  }
}

void AllocatorReader::read_overrides() {
  if (!config_.contains("overrides")) return;
  const Json& overrides = config_["overrides"];
  if (!overrides.is_object()) return problems_.add_wrong("/overrides", overrides, "an object");
  const auto keys = schema_keys(schema_definition("overrides").at("additionalProperties"));
  for (const auto& [id, changes] : overrides.items()) {
    const std::string pointer = pointer_to("/overrides", id);
    const protocol::AllocatorDescription* allocator = known(id, pointer);
    if (!changes.is_object()) {
      problems_.add_wrong(pointer, changes, "an object");
      continue;
    }
    problems_.add_unknown_keys(pointer, "key", changes, keys);
    if (allocator == nullptr) continue;
    AllocatorChoice unused;  // overrides of allocators that this config does not run are also checked
    unused.settings = settings_;
    bool used = false;
    for (AllocatorChoice& choice : choices_) {
      if (choice.id != allocator->name) continue;
      if (used) {
        Problems repeated;  // these problems are already reported for the first entry
        AllocatorReader(config_, names_, workload_, settings_, repeated)
            .override_choice(choice, *allocator, changes, pointer);
      } else {
        override_choice(choice, *allocator, changes, pointer);
      }
      used = true;
    }
    if (!used) override_choice(unused, *allocator, changes, pointer);
  }
}

void AllocatorReader::override_choice(AllocatorChoice& choice, const protocol::AllocatorDescription& allocator,
                                      const Json& changes, const std::string& pointer) {
  Config unused;  // an override changes only settings
  for (const std::string& name : overridable_scalars()) {
    if (!changes.contains(name)) continue;
    const std::string place = pointer_to(pointer, name);
    const auto value = read_value(changes[name], *find_entry(config_scalars(), name), place, problems_);
    if (value) apply_scalar(name, *value, choice.settings, unused);
  }
  check_rounds(choice.settings, changes, pointer, problems_);
  if (changes.contains("parameters")) {
    for (auto& [name, value] :
         read_values(changes["parameters"], allocator.parameters, "", pointer_to(pointer, "parameters"), problems_)) {
      protocol::assign_value(choice.parameters, name, std::move(value));
    }
  }
  if (changes.contains("workload") && workload_ != nullptr) {
    for (auto& [name, value] :
         read_values(changes["workload"], workload_->parameters, "", pointer_to(pointer, "workload"), problems_)) {
      protocol::assign_value(choice.settings.workload_parameters, name, std::move(value));
    }
  }
}

}  // namespace allocbench::front
