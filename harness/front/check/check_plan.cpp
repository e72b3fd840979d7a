#include "harness/front/check/check_plan.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "harness/front/common/build_hints.hpp"
#include "harness/front/common/errors.hpp"
#include "harness/front/common/json_text.hpp"
#include "harness/front/common/limits.hpp"
#include "harness/front/common/nearest_name.hpp"
#include "harness/front/common/output.hpp"
#include "harness/front/common/problems.hpp"
#include "harness/front/common/text_file.hpp"
#include "harness/front/config/catalogue.hpp"
#include "protocol/checker_json.hpp"
#include "protocol/model_json.hpp"

namespace allocbench::front {
namespace {

using protocol::Json;
using protocol::Model;

[[noreturn]] void unknown(const char* kind, const std::string& name, const std::vector<std::string>& valid) {
  const std::string nearest = nearest_name(name, valid);
  throw UsageError(fmt::format("There is no {} \"{}\"{}. `allocbench check --list` shows all.", kind, name,
                               nearest.empty() ? "" : fmt::format(" (did you mean \"{}\"?)", nearest)));
}

[[noreturn]] void unknown_allocator(const std::string& name, const std::vector<std::string>& valid,
                                    const std::vector<protocol::BrokenPlugin>& broken) {
  for (const protocol::BrokenPlugin& plugin : broken) {
    if (plugin.plugin != name) continue;
    throw UsageError(fmt::format("The allocator \"{}\" cannot be checked: {}", name, plugin.reason));
  }
  unknown("allocator", name, valid);
}

// Reads one model or a list of models. Throws one UsageError with the mistakes of all models, but with only the first
// broken rule of each model.
std::vector<Model> models_in_file(const std::string& path) {
  const std::string text = read_text_file(path, "--model:", limits::config_bytes);
  Problems problems;
  const Json json = parse_strictly(text, problems);
  require_none(problems, path);
  const std::vector<Json> documents = json.is_array() ? json.get<std::vector<Json>>() : std::vector<Json>{json};
  std::vector<Model> models;
  std::string mistakes;
  for (const Json& document : documents) {
    try {
      models.push_back(protocol::model_from_json(document));
    } catch (const protocol::Malformed& error) {
      mistakes += fmt::format("\n{}", error.what());
    }
  }
  if (!mistakes.empty()) throw UsageError(fmt::format("--model {}:{}", path, mistakes));
  if (models.empty()) throw UsageError(fmt::format("--model: {} contains neither a model nor a list of models.", path));
  return models;
}

void choose_models(const std::vector<std::string>& wanted, const protocol::CheckerDescription& offer, CheckPlan& plan) {
  const auto add = [&](const std::vector<Model>& models, const std::string& file) {
    plan.models.insert(plan.models.end(), models.begin(), models.end());
    plan.model_files.resize(plan.models.size(), file);
  };
  if (wanted.empty()) return add(offer.models, "");
  for (const std::string& each : wanted) {
    if (const Model* found = find_entry(offer.models, each)) {
      add({*found}, "");
    } else if (std::filesystem::exists(each) || each.ends_with(".json")) {
      add(models_in_file(each), each);
    } else {
      unknown("model or file", each, names_of(offer.models));
    }
  }
}

std::vector<std::string> choose_allocators(const CheckOptions& options, const protocol::CheckerDescription& offer) {
  for (const std::string& name : options.allocators) {
    if (find_entry(offer.allocators, name) == nullptr) {
      unknown_allocator(name, names_of(offer.allocators), offer.broken_plugins);
    }
  }
  if (!options.allocators.empty()) return options.allocators;
  std::vector<std::string> chosen;
  for (const protocol::SubjectDescription& subject : offer.allocators) {
    if (options.all || !subject.test_only) chosen.push_back(subject.name);
  }
  return chosen;
}

// Selects the allocators of the plan that the race build contains, and warns about the allocators that it lacks.
void choose_race_allocators(CheckPlan& plan) {
  const protocol::CheckerDescription offer = describe_checker(*plan.race_seer);
  for (const std::string& name : plan.allocators) {
    if (find_entry(offer.allocators, name) != nullptr) {
      plan.race_allocators.push_back(name);
    } else {
      tell("allocbench: warning: {} does not contain {}, so races of {} are not searched for.\n", plan.race_seer->path,
           name, name);
      plan.complete = false;
    }
  }
}

}  // namespace

protocol::CheckerDescription describe_checker(const WorkerProgram& program) {
  try {
    auto checker = protocol::checker_from_json(protocol::parse_object(describe_text(program), "its output"));
    warn_about(checker.broken_plugins);
    return checker;
  } catch (const protocol::Malformed& error) {
    throw EnvironmentError(
        fmt::format("{} --describe printed no valid description: {}. Build both programs from one tree with {}.",
                    program.path, error.what(), how_to_build_programs));
  }
}

CheckPlan make_check_plan(const CheckOptions& options) {
  const WorkerFolder folder(options.workers);
  CheckPlan plan{.searcher = folder.require("check"),
                 .race_seer = {},
                 .allocators = {},
                 .race_allocators = {},
                 .models = {},
                 .model_files = {}};
  if (options.races) plan.race_seer = folder.find("tsan");
  const protocol::CheckerDescription offer = describe_checker(plan.searcher);
  plan.allocators = choose_allocators(options, offer);
  const bool lacks_races = options.races && !plan.race_seer;
  plan.complete = !lacks_races && (!options.allocators.empty() || offer.broken_plugins.empty());
  choose_models(options.models, offer, plan);
  if (plan.race_seer) choose_race_allocators(plan);
  return plan;
}

}  // namespace allocbench::front
