#include "protocol/model_json.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <limits>

namespace allocbench::protocol {
namespace {

constexpr std::string_view pool_prefix = "pool/";
constexpr const char* heap_words[] = {"first", "second", "many_units"};

class ModelReader {
 public:
  explicit ModelReader(std::vector<std::string>& problems) : problems_(problems) {}

  void read(const Json& json, Model& model) {
    if (!is_object_of(json, "",
                      {"name", "description", "kernels", "blocks", "threads_per_block", "rounds", "launches", "sizes",
                       "null", "reset", "refill", "heap", "steps"})) {
      return;
    }
    text(json, "", "name", model.name);
    text(json, "", "description", model.description);
    count(json, "", "kernels", model.kernels);
    count(json, "", "blocks", model.blocks);
    count(json, "", "threads_per_block", model.threads_per_block);
    count(json, "", "rounds", model.rounds);
    count(json, "", "launches", model.launches);
    std::string null = "allowed";
    text(json, "", "null", null);
    if (null != "allowed" && null != "failure") complain("/null", json["null"], "\"allowed\" or \"failure\"");
    model.null_is_failure = null == "failure";
    truth(json, "", "reset", model.resets);
    truth(json, "", "refill", model.refills);
    std::string heap = heap_words[0];
    text(json, "", "heap", heap);
    const auto found = std::find(std::begin(heap_words), std::end(heap_words), heap);
    if (found == std::end(heap_words)) {
      complain("/heap", json["heap"], "\"first\", \"second\" or \"many_units\"");
    } else {
      model.heap = static_cast<ModelHeap>(found - std::begin(heap_words));
    }
    if (json.contains("sizes")) {
      model.sizes.clear();
      for_each(json, "sizes", [&](const Json& each, const std::string& at) { model.sizes.push_back(size(each, at)); });
    }
    for_each(json, "steps", [&](const Json& each, const std::string& at) { model.steps.push_back(step(each, at)); });
  }

 private:
  void complain(const std::string& pointer, const Json& found, std::string_view allowed) {
    problems_.push_back(
        fmt::format("{}: found {}; allowed: {}", pointer.empty() ? "(top level)" : pointer, excerpt(found), allowed));
  }

  bool is_object_of(const Json& json, const std::string& pointer, const std::vector<std::string_view>& keys) {
    if (!json.is_object()) {
      complain(pointer, json, "an object");
      return false;
    }
    for (const auto& [key, value] : json.items()) {
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
        problems_.push_back(fmt::format("{}/{}: unknown key; allowed: {}", pointer, key, fmt::join(keys, ", ")));
      }
    }
    return true;
  }

  void text(const Json& json, const std::string& pointer, const char* key, std::string& value) {
    if (!json.contains(key)) return;
    if (!json[key].is_string()) return complain(pointer + "/" + key, json[key], "a text");
    value = json[key];
  }

  void count(const Json& json, const std::string& pointer, const char* key, std::uint32_t& value) {
    if (!json.contains(key)) return;
    constexpr auto most = std::numeric_limits<std::uint32_t>::max();
    if (!json[key].is_number_unsigned() || json[key].get<std::uint64_t>() > most) {
      return complain(pointer + "/" + key, json[key], "a count");
    }
    value = json[key];
  }

  void truth(const Json& json, const std::string& pointer, const char* key, bool& value) {
    if (!json.contains(key)) return;
    if (!json[key].is_boolean()) return complain(pointer + "/" + key, json[key], "true or false");
    value = json[key];
  }

  template <class Read>
  void for_each(const Json& json, const char* key, Read&& read) {
    if (!json.contains(key)) return;
    const std::string pointer = fmt::format("/{}", key);
    if (!json[key].is_array()) return complain(pointer, json[key], "a list");
    for (std::size_t i = 0; i < json[key].size(); ++i) read(json[key][i], fmt::format("{}/{}", pointer, i));
  }

  ModelSize size(const Json& json, const std::string& pointer) {
    if (json.is_number_unsigned()) return {json.get<std::uint64_t>(), 0};
    const std::string text = json.is_string() ? json.get<std::string>() : "";
    const std::string digits = text.starts_with(pool_prefix) ? text.substr(pool_prefix.size()) : "";
    if (digits.empty() || digits.size() > 6 || digits.find_first_not_of("0123456789") != std::string::npos) {
      complain(pointer, json, "bytes, or a share of the pool as \"pool/4\"");
      return {1, 0};
    }
    return {0, static_cast<std::uint32_t>(std::stoul(digits))};
  }

  ModelStep step(const Json& json, const std::string& pointer) {
    ModelStep step;
    if (!is_object_of(json, pointer, {"do", "slot", "size", "from", "lanes", "fill"})) return step;
    std::string action;
    text(json, pointer, "do", action);
    if (action == "malloc") {
      step.action = ModelAction::malloc;
    } else if (action == "free") {
      step.action = ModelAction::free;
    } else if (action == "free_null") {
      step.action = ModelAction::free_null;
    } else if (action == "barrier") {
      step.action = ModelAction::barrier;
    } else {
      complain(pointer + "/do", json.value("do", Json()), "\"malloc\", \"free\", \"free_null\" or \"barrier\"");
    }
    count(json, pointer, "slot", step.slot);
    count(json, pointer, "from", step.from);
    truth(json, pointer, "fill", step.fills);
    if (json.contains("size") && json["size"] == "spread") {
      step.spread = true;
    } else {
      count(json, pointer, "size", step.size);
    }
    if (json.contains("lanes") && is_object_of(json["lanes"], pointer + "/lanes", {"every", "first"})) {
      count(json["lanes"], pointer + "/lanes", "every", step.lanes.every);
      count(json["lanes"], pointer + "/lanes", "first", step.lanes.first);
    }
    return step;
  }

  std::vector<std::string>& problems_;
};

Json to_json(const ModelStep& step) {
  static constexpr const char* words[] = {"malloc", "free", "free_null", "barrier"};
  Json json = {{"do", words[static_cast<std::size_t>(step.action)]}};
  if (step.action == ModelAction::barrier) return json;
  if (step.action != ModelAction::free_null || step.fills) json["slot"] = step.slot;
  if (step.action == ModelAction::malloc && step.spread) json["size"] = "spread";
  if (step.action == ModelAction::malloc && !step.spread && step.size != 0) json["size"] = step.size;
  if (step.action == ModelAction::free && step.from != 0) json["from"] = step.from;
  if (step.fills) json["fill"] = true;
  if (step.lanes.every != 1) json["lanes"] = {{"every", step.lanes.every}, {"first", step.lanes.first}};
  return json;
}

}  // namespace

std::vector<std::string> read_model(const Json& json, Model& model) {
  std::vector<std::string> problems;
  ModelReader(problems).read(json, model);
  if (problems.empty()) {
    const std::string broken = broken_rule(model);
    if (!broken.empty()) problems.push_back(broken);
  }
  return problems;
}

Model model_from_json(const Json& json) {
  Model model;
  const std::vector<std::string> problems = read_model(json, model);
  if (problems.empty()) return model;
  throw Malformed(
      fmt::format("model \"{}\":\n  {}", model.name.empty() ? "?" : model.name, fmt::join(problems, "\n  ")));
}

Json to_json(const Model& model) {
  Json json = {{"name", model.name},     {"description", model.description},
               {"blocks", model.blocks}, {"threads_per_block", model.threads_per_block},
               {"rounds", model.rounds}, {"launches", model.launches}};
  if (model.kernels != 1) json["kernels"] = model.kernels;
  for (const ModelSize& size : model.sizes) {
    json["sizes"].push_back(size.pool_share != 0 ? Json(fmt::format("{}{}", pool_prefix, size.pool_share))
                                                 : Json(size.bytes));
  }
  json["null"] = model.null_is_failure ? "failure" : "allowed";
  if (model.resets) json["reset"] = true;
  if (model.refills) json["refill"] = true;
  if (model.heap != ModelHeap::first) json["heap"] = heap_words[static_cast<std::size_t>(model.heap)];
  for (const ModelStep& step : model.steps) json["steps"].push_back(to_json(step));
  return json;
}

}  // namespace allocbench::protocol
