#include "harness/front/config/schema.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <stdexcept>

namespace allocbench::front {

// CMake generates this text from configs/schema/config.schema.json.
extern const char* const config_schema_text;

namespace {

using Json = nlohmann::ordered_json;

const Json& schema() {
  static const Json json = Json::parse(config_schema_text);
  return json;
}

const Json* part(const Json& node, const char* key) {
  const auto found = node.find(key);
  return found == node.end() ? nullptr : &*found;
}

bool has_type(const Json& json, const std::string& type) {
  if (type == "object") return json.is_object();
  if (type == "array") return json.is_array();
  if (type == "string") return json.is_string();
  if (type == "boolean") return json.is_boolean();
  if (type == "number") return json.is_number();
  if (type == "integer") {
    return json.is_number_integer() || (json.is_number_float() && json.get<double>() == std::floor(json.get<double>()));
  }
  return json.is_null();
}

std::vector<std::string> types_of(const Json& node) {
  const Json* type = part(node, "type");
  if (type == nullptr) return {};
  if (type->is_string()) return {type->get<std::string>()};
  return type->get<std::vector<std::string>>();
}

std::string words_for(const std::string& type) {
  static const std::map<std::string, std::string> words = {
      {"object", "an object"}, {"array", "a list"},       {"string", "a text"}, {"boolean", "true or false"},
      {"number", "a number"},  {"integer", "an integer"}, {"null", "null"}};
  return words.at(type);
}

// Returns the values that a node allows, in words.
std::string allowed_by(const Json& given) {
  const Json& node = resolved(given);
  if (const Json* choices = part(node, "enum")) {
    std::vector<std::string> words;
    for (const Json& choice : *choices) {
      const std::string text = choice.is_string() ? choice.get<std::string>() : choice.dump();
      words.push_back(text.empty() ? "\"\"" : text);
    }
    return fmt::format("one of {}", fmt::join(words, ", "));
  }
  if (const Json* constant = part(node, "const")) return constant->dump();
  std::vector<std::string> words;
  const bool described = part(node, "pattern") != nullptr && part(node, "description") != nullptr;
  if (described) words.push_back(node.at("description"));
  for (const std::string& type : types_of(node)) {
    if (!described) words.push_back(words_for(type));
  }
  for (const char* key : {"anyOf", "oneOf"}) {
    if (const Json* branches = part(node, key)) {
      for (const Json& branch : *branches) words.push_back(allowed_by(branch));
    }
  }
  std::string text = fmt::format("{}", fmt::join(words, " or "));
  const auto bound = [&](const char* key, const char* words_before, const char* words_after) {
    if (const Json* limit = part(node, key)) text += fmt::format(", {} {}{}", words_before, limit->dump(), words_after);
  };
  bound("minimum", "at least", "");
  bound("maximum", "at most", "");
  bound("minLength", "length at least", "");
  bound("maxLength", "length at most", "");
  bound("minItems", "at least", " values");
  bound("maxItems", "at most", " values");
  bound("minProperties", "at least", " keys");
  return text;
}

class Checker {
 public:
  explicit Checker(Problems& problems) : problems_(problems) {}

  void check(const Json& given, const Json& json, const std::string& pointer) {
    const Json& node = resolved(given);
    const std::vector<std::string> types = types_of(node);
    const bool fits = types.empty() || std::any_of(types.begin(), types.end(),
                                                   [&](const std::string& type) { return has_type(json, type); });
    if (!fits || !scalar_fits(node, json)) return wrong(node, json, pointer);
    if (json.is_object()) check_object(node, json, pointer);
    if (json.is_array()) check_list(node, json, pointer);
    for (const char* key : {"allOf", "anyOf", "oneOf"}) {
      if (const Json* branches = part(node, key)) check_branches(key, *branches, node, json, pointer);
    }
  }

 private:
  void wrong(const Json& node, const Json& json, const std::string& pointer) {
    if (const Json* choices = part(node, "enum"); choices != nullptr && json.is_string()) {
      std::vector<std::string> valid;
      for (const Json& choice : *choices) {
        if (choice.is_string()) valid.push_back(choice);
      }
      Problems one;
      one.add_unknown(pointer, "value", json.get<std::string>(), valid);
      Problem problem = one.list().front();
      problem.found = excerpt(json);
      problem.allowed = allowed_by(node);
      return problems_.add(std::move(problem));
    }
    problems_.add_wrong(pointer, json, allowed_by(node));
  }

  // Returns whether the value obeys the node's rules, apart from those about members.
  static bool scalar_fits(const Json& node, const Json& json) {
    if (const Json* choices = part(node, "enum")) {
      if (std::find(choices->begin(), choices->end(), json) == choices->end()) return false;
    }
    if (const Json* constant = part(node, "const"); constant != nullptr && *constant != json) return false;
    if (json.is_number()) {
      const double number = json.get<double>();
      if (const Json* least = part(node, "minimum"); least != nullptr && number < least->get<double>()) return false;
      if (const Json* most = part(node, "maximum"); most != nullptr && number > most->get<double>()) return false;
    }
    if (!json.is_string()) return true;
    const auto& text = json.get_ref<const std::string&>();
    if (const Json* least = part(node, "minLength"); least != nullptr && text.size() < least->get<std::size_t>())
      return false;
    if (const Json* most = part(node, "maxLength"); most != nullptr && text.size() > most->get<std::size_t>())
      return false;
    const Json* pattern = part(node, "pattern");
    // std::regex recurses on its text, so the schema limits the length of every text that is matched here.
    return pattern == nullptr || std::regex_search(text, std::regex(pattern->get<std::string>()));
  }

  void check_object(const Json& node, const Json& json, const std::string& pointer) {
    if (const Json* required = part(node, "required")) {
      for (const Json& key : *required) {
        const std::string name = key;
        if (json.contains(name)) continue;
        const Json* properties = part(node, "properties");
        const bool known = properties != nullptr && properties->contains(name);
        problems_.add_missing(pointer, name, known ? allowed_by(properties->at(name)) : "");
      }
    }
    if (const Json* least = part(node, "minProperties"); least != nullptr && json.size() < least->get<std::size_t>()) {
      wrong(node, json, pointer);
    }
    const Json* properties = part(node, "properties");
    const Json* others = part(node, "additionalProperties");
    const Json* names = part(node, "propertyNames");
    for (const auto& [key, value] : json.items()) {
      const std::string place = pointer_to(pointer, key);
      if (names != nullptr) check_name(*names, key, place);
      if (properties != nullptr && properties->contains(key)) {
        check(properties->at(key), value, place);
      } else if (others != nullptr && others->is_object()) {
        check(*others, value, place);
      } else if (others != nullptr && *others == false) {
        problems_.add_unknown(place, "key", key, schema_keys(node));
      }
    }
  }

  void check_name(const Json& given, const std::string& key, const std::string& place) {
    const Json& node = resolved(given);
    if (const Json* choices = part(node, "enum")) {
      const auto valid = choices->get<std::vector<std::string>>();
      if (std::find(valid.begin(), valid.end(), key) == valid.end()) problems_.add_unknown(place, "key", key, valid);
    } else if (!scalar_fits(node, key)) {
      problems_.add({place, fmt::format("the key \"{}\"", key), allowed_by(node), ""});
    }
  }

  void check_list(const Json& node, const Json& json, const std::string& pointer) {
    const Json* least = part(node, "minItems");
    const Json* most = part(node, "maxItems");
    if ((least != nullptr && json.size() < least->get<std::size_t>()) ||
        (most != nullptr && json.size() > most->get<std::size_t>())) {
      return wrong(node, json, pointer);
    }
    const Json* items = part(node, "items");
    if (items == nullptr) return;
    for (std::size_t i = 0; i < json.size(); ++i) check(*items, json[i], pointer_to(pointer, i));
  }

  bool fits(const Json& node, const Json& json) const {
    Problems trial;
    Checker(trial).check(node, json, "");
    return trial.empty();
  }

  void check_branches(const std::string& key, const Json& branches, const Json& node, const Json& json,
                      const std::string& pointer) {
    if (key == "allOf") {
      for (const Json& branch : branches) check(branch, json, pointer);
      return;
    }
    if (const auto keys = alternative_keys(branches); !keys.empty()) return check_one_of(keys, json, pointer);
    if (std::any_of(branches.begin(), branches.end(), [&](const Json& branch) { return fits(branch, json); })) return;
    if (told_apart_by_kind(branches)) return check_kind(branches, json, pointer);
    // If only one branch allows the type of the value, the user meant this branch.
    const Json* meant = nullptr;
    for (const Json& branch : branches) {
      const auto types = types_of(resolved(branch));
      const bool same = std::any_of(types.begin(), types.end(), [&](auto& type) { return has_type(json, type); });
      if (same) meant = meant == nullptr ? &branch : nullptr;
    }
    if (meant != nullptr) return check(*meant, json, pointer);
    wrong(node, json, pointer);
  }

  // Returns the keys of branches that only require a key, or nothing if a branch has other rules.
  static std::vector<std::string> alternative_keys(const Json& branches) {
    std::vector<std::string> keys;
    for (const Json& branch : branches) {
      const Json* required = part(branch, "required");
      if (required == nullptr || branch.size() != 1 || required->size() != 1) return {};
      keys.push_back(required->front());
    }
    return keys;
  }

  void check_one_of(const std::vector<std::string>& keys, const Json& json, const std::string& pointer) {
    const auto present =
        std::count_if(keys.begin(), keys.end(), [&](const std::string& key) { return json.contains(key); });
    if (present == 1) return;
    problems_.add(
        {pointer, fmt::format("{} of the keys {}", present, fmt::join(keys, ", ")), "exactly one of these keys", ""});
  }

  static bool told_apart_by_kind(const Json& branches) {
    const auto has_kind = [](const Json& branch) {
      const Json* properties = part(resolved(branch), "properties");
      return properties != nullptr && properties->contains("kind");
    };
    return std::all_of(branches.begin(), branches.end(), has_kind);
  }

  void check_kind(const Json& branches, const Json& json, const std::string& pointer) {
    if (!json.is_object()) return problems_.add_wrong(pointer, json, "an object");
    std::vector<std::string> kinds;
    for (const Json& branch : branches) {
      const Json& node = resolved(branch);
      kinds.push_back(node.at("properties").at("kind").at("const"));
      if (json.contains("kind") && json["kind"] == kinds.back()) return check(node, json, pointer);
    }
    const std::string allowed = fmt::format("one of {}", fmt::join(kinds, ", "));
    check_keys_of_all(branches, json, pointer);
    if (!json.contains("kind")) return problems_.add_missing(pointer, "kind", allowed);
    if (!json["kind"].is_string()) return problems_.add_wrong(pointer_to(pointer, "kind"), json["kind"], allowed);
    problems_.add_unknown(pointer_to(pointer, "kind"), "kind", json["kind"].get<std::string>(), kinds);
  }

  // Reports keys that no kind has. If the kind is missing or unknown, only such keys are certainly wrong.
  void check_keys_of_all(const Json& branches, const Json& json, const std::string& pointer) {
    std::vector<std::string> valid;
    for (const Json& branch : branches) {
      for (const std::string& key : schema_keys(branch)) {
        if (std::find(valid.begin(), valid.end(), key) == valid.end()) valid.push_back(key);
      }
    }
    problems_.add_unknown_keys(pointer, "key", json, valid);
  }

  Problems& problems_;
};

}  // namespace

const SchemaNode& schema_definition(std::string_view name) {
  const Json* found = part(schema().at("definitions"), std::string(name).c_str());
  if (found == nullptr) throw std::logic_error(fmt::format("the schema defines no {}", name));
  return *found;
}

const SchemaNode& resolved(const SchemaNode& node) {
  const Json* reference = part(node, "$ref");
  if (reference == nullptr) return node;
  constexpr std::string_view prefix = "#/definitions/";
  const auto target = reference->get<std::string>();
  return resolved(schema_definition(std::string_view(target).substr(prefix.size())));
}

std::vector<std::string> schema_keys(const SchemaNode& node) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : resolved(node).at("properties").items()) keys.push_back(key);
  return keys;
}

void check_against(const SchemaNode& node, const Json& json, const std::string& pointer, Problems& problems) {
  Checker(problems).check(node, json, pointer);
}

}  // namespace allocbench::front
