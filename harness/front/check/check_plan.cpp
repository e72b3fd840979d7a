#include "harness/front/check/check_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "harness/front/common/errors.hpp"
#include "harness/front/common/json_text.hpp"
#include "harness/front/common/limits.hpp"
#include "harness/front/common/nearest_name.hpp"
#include "harness/front/common/text_file.hpp"

namespace allocbench::front {
namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void unknown(const char* kind, const std::string& name, const std::vector<std::string>& valid) {
  const std::string nearest = nearest_name(name, valid);
  throw UsageError(fmt::format("There is no {} \"{}\"{}. `allocbench check --list` shows all.", kind, name,
                               nearest.empty() ? "" : fmt::format(" (did you mean \"{}\"?)", nearest)));
}

std::vector<std::string> names_of(const std::vector<Json>& models) {
  std::vector<std::string> names;
  names.reserve(models.size());
  for (const Json& model : models) names.push_back(model.value("name", ""));
  return names;
}

// One model or a list of them.
std::vector<Json> models_in_file(const std::string& path) {
  const std::string text = read_text_file(path, "--model:", limits::config_bytes);
  Problems problems;
  const Json json = parse_strictly(text, problems);
  if (!problems.empty()) {
    std::string complaint = format_problems(path, problems);
    complaint.pop_back();
    throw UsageError(complaint);
  }
  const auto named = [](const Json& model) {
    return model.is_object() && (!model.contains("name") || model["name"].is_string());
  };
  if (named(json)) return {json};
  if (json.is_array() && !json.empty() && std::all_of(json.begin(), json.end(), named)) {
    return json.get<std::vector<Json>>();
  }
  throw UsageError(fmt::format("--model: {} contains neither a model nor a list of models.", path));
}

void choose_models(const std::vector<std::string>& wanted, const protocol::CheckerDescription& offer, CheckPlan& plan) {
  const auto add = [&](const std::vector<Json>& models, const std::string& file) {
    plan.models.insert(plan.models.end(), models.begin(), models.end());
    plan.model_files.resize(plan.models.size(), file);
  };
  if (wanted.empty()) return add(offer.models, "");
  for (const std::string& each : wanted) {
    const auto found = std::find_if(offer.models.begin(), offer.models.end(),
                                    [&](const Json& model) { return model.value("name", "") == each; });
    if (found != offer.models.end()) {
      add({*found}, "");
    } else if (std::filesystem::exists(each) || each.ends_with(".json")) {
      add(models_in_file(each), each);
    } else {
      unknown("model or file", each, names_of(offer.models));
    }
  }
}

std::vector<std::string> choose_allocators(const CheckOptions& options, const protocol::CheckerDescription& offer) {
  std::vector<std::string> all;
  for (const protocol::SubjectDescription& subject : offer.allocators) all.push_back(subject.name);
  for (const std::string& name : options.allocators) {
    if (std::find(all.begin(), all.end(), name) == all.end()) unknown("allocator", name, all);
  }
  if (!options.allocators.empty()) return options.allocators;
  std::vector<std::string> chosen;
  for (const protocol::SubjectDescription& subject : offer.allocators) {
    if (options.all || !subject.test_only) chosen.push_back(subject.name);
  }
  return chosen;
}

}  // namespace

protocol::CheckerDescription describe_checker(const WorkerProgram& program) {
  try {
    return protocol::checker_from_json(protocol::parse_object(describe_text(program), "its output"));
  } catch (const protocol::Malformed& error) {
    throw EnvironmentError(fmt::format("{} --describe printed no valid description: {}.", program.path, error.what()));
  }
}

CheckPlan make_check_plan(const CheckOptions& options) {
  const WorkerFolder folder(options.workers);
  CheckPlan plan{folder.require("check"), std::nullopt, {}, {}, {}};
  if (options.races) plan.race_seer = folder.find("tsan");
  const protocol::CheckerDescription offer = describe_checker(plan.searcher);
  plan.allocators = choose_allocators(options, offer);
  choose_models(options.models, offer, plan);
  return plan;
}

}  // namespace allocbench::front
