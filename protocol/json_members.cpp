#include "protocol/json_members.hpp"

#include <fmt/format.h>

#include <cmath>

namespace allocbench::protocol {
namespace {

[[noreturn]] void wrong(std::string_view name, const Json& found, std::string_view wanted) {
  throw Malformed(fmt::format("\"{}\" must be {}; found {}", name, wanted, excerpt(found)));
}

std::string text_in(const Json& json, std::string_view name) {
  if (!json.is_string()) wrong(name, json, "a text");
  return json.get<std::string>();
}

std::uint64_t count_in(const Json& json, std::string_view name) {
  if (!json.is_number_unsigned()) wrong(name, json, "a non-negative integer");
  return json.get<std::uint64_t>();
}

bool truth_in(const Json& json, std::string_view name) {
  if (!json.is_boolean()) wrong(name, json, "true or false");
  return json.get<bool>();
}

double seconds_in(const Json& json, std::string_view name) {
  if (!json.is_number() || !(json.get<double>() >= 0) || json.get<double>() > longest_seconds) {
    wrong(name, json, fmt::format("a number of seconds from 0 to {}", longest_seconds));
  }
  return json.get<double>();
}

}  // namespace

std::string excerpt(const Json& json) {
  const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  return text.size() <= 80 ? text : text.substr(0, 80) + "...";
}

bool nests_deeper_than(std::string_view text, int levels) {
  int depth = 0;  // depth of brackets outside of strings
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char letter = text[i];
    if (quoted) {
      if (letter == '\\') ++i;
      if (letter == '"') quoted = false;
    } else if (letter == '"') {
      quoted = true;
    } else if (letter == '[' || letter == '{') {
      if (++depth > levels) return true;
    } else if (letter == ']' || letter == '}') {
      --depth;
    }
  }
  return false;
}

Json parse_object(std::string_view text, std::string_view what) {
  if (nests_deeper_than(text, deepest_json))
    throw Malformed(fmt::format("{} must not nest deeper than {} levels", what, deepest_json));
  Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) throw Malformed(fmt::format("{} must be a JSON object", what));
  return json;
}

const Json& member(const Json& object, std::string_view name) {
  const auto found = object.find(std::string(name));
  if (found == object.end()) throw Malformed(fmt::format("\"{}\" is missing", name));
  return *found;
}

const Json* optional_member(const Json& object, std::string_view name) {
  const auto found = object.find(std::string(name));
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

const Json& object_member(const Json& object, std::string_view name) {
  const Json& json = member(object, name);
  if (!json.is_object()) wrong(name, json, "an object");
  return json;
}

const Json& list_member(const Json& object, std::string_view name) {
  const Json& json = member(object, name);
  if (!json.is_array()) wrong(name, json, "a list");
  return json;
}

std::string text_member(const Json& object, std::string_view name) { return text_in(member(object, name), name); }

std::uint64_t count_member(const Json& object, std::string_view name) { return count_in(member(object, name), name); }

double number_member(const Json& object, std::string_view name) {
  const Json& json = member(object, name);
  if (!json.is_number() || !std::isfinite(json.get<double>())) wrong(name, json, "a number");
  return json.get<double>();
}

double seconds_member(const Json& object, std::string_view name) { return seconds_in(member(object, name), name); }

std::string text_member_or(const Json& object, std::string_view name, std::string otherwise) {
  return optional_text(object, name).value_or(std::move(otherwise));
}

std::uint64_t count_member_or(const Json& object, std::string_view name, std::uint64_t otherwise) {
  return optional_count(object, name).value_or(otherwise);
}

bool truth_member_or(const Json& object, std::string_view name, bool otherwise) {
  return optional_truth(object, name).value_or(otherwise);
}

std::optional<std::string> optional_text(const Json& object, std::string_view name) {
  const Json* json = optional_member(object, name);
  return json == nullptr ? std::nullopt : std::optional(text_in(*json, name));
}

std::optional<std::uint64_t> optional_count(const Json& object, std::string_view name) {
  const Json* json = optional_member(object, name);
  return json == nullptr ? std::nullopt : std::optional(count_in(*json, name));
}

std::optional<bool> optional_truth(const Json& object, std::string_view name) {
  const Json* json = optional_member(object, name);
  return json == nullptr ? std::nullopt : std::optional(truth_in(*json, name));
}

std::optional<std::vector<std::string>> optional_texts(const Json& object, std::string_view name) {
  if (optional_member(object, name) == nullptr) return std::nullopt;
  std::vector<std::string> texts;
  for (const Json& each : list_member(object, name)) texts.push_back(text_in(each, name));
  return texts;
}

std::optional<double> optional_seconds(const Json& object, std::string_view name) {
  const Json* json = optional_member(object, name);
  return json == nullptr ? std::nullopt : std::optional(seconds_in(*json, name));
}

}  // namespace allocbench::protocol
