#include "protocol/checker_json.hpp"

#include <fmt/format.h>

#include "protocol/description_json.hpp"
#include "protocol/model_json.hpp"
#include "protocol/version.hpp"

namespace allocbench::protocol {
namespace {

Json about(const char* command, const CheckTarget& target) {
  return {{"command", command}, {"allocator", target.allocator}, {"model", to_json(target.model)}};
}

struct CommandWriter {
  Json operator()(const Explore& command) const {
    Json json = about("explore", command.target);
    json["strategy"] = command.strategy;
    json["first_seed"] = command.first_seed;
    json["seeds"] = command.seeds;
    json["stop_at_failure"] = command.stop_at_failure;
    json["apart"] = command.apart;
    return json;
  }
  Json operator()(const Replay& command) const {
    Json json = about("replay", command.target);
    if (command.schedule) {
      json["schedule"] = *command.schedule;
    } else {
      json["strategy"] = command.strategy;
      json["seed"] = command.seed;
    }
    json["times"] = command.times;
    return json;
  }
  Json operator()(const Shrink& command) const {
    Json json = about("shrink", command.target);
    json["schedule"] = command.schedule;
    json["apart"] = command.apart;
    return json;
  }
  Json operator()(const Quit&) const { return {{"command", "quit"}}; }
};

Json run_json(const CheckedRun& run) {
  return {{"seed", run.seed},     {"outcome", run.outcome},   {"summary", run.summary},
          {"report", run.report}, {"schedule", run.schedule}, {"decisions", run.decisions}};
}

struct EventWriter {
  Json operator()(const CheckerReady& event) const {
    return {{"event", "ready"}, {"protocol", event.protocol}, {"races", event.races}};
  }
  Json operator()(const Explored& event) const {
    Json json = {{"event", "explored"},
                 {"tried", event.tried},
                 {"failed", event.failed},
                 {"steps", event.steps},
                 {"exhausted", event.exhausted}};
    if (event.first) json["first"] = run_json(*event.first);
    return json;
  }
  Json operator()(const Replayed& event) const {
    return {
        {"event", "replayed"}, {"times", event.times}, {"identical", event.identical}, {"run", run_json(event.run)}};
  }
  Json operator()(const Shrunk& event) const {
    return {{"event", "shrunk"}, {"runs", event.runs}, {"run", run_json(event.run)}};
  }
  Json operator()(const Unsupported& event) const { return {{"event", "unsupported"}, {"reason", event.reason}}; }
  Json operator()(const Refused& event) const { return {{"event", "refused"}, {"reason", event.reason}}; }
  Json operator()(const ProtocolError& event) const { return {{"event", "protocol_error"}, {"reason", event.reason}}; }
};

CheckTarget target_of(const Json& json) {
  return {text_member(json, "allocator"), model_from_json(object_member(json, "model"))};
}

Replay replay_from_json(const Json& json) {
  Replay command;
  command.target = target_of(json);
  command.times = count_member_or(json, "times", 1);
  command.schedule = optional_text(json, "schedule");
  if (!command.schedule) {
    command.strategy = text_member(json, "strategy");
    command.seed = count_member(json, "seed");
  }
  return command;
}

CheckedRun run_from_json(const Json& json) {
  return {count_member(json, "seed"),  text_member(json, "outcome"),  text_member(json, "summary"),
          text_member(json, "report"), text_member(json, "schedule"), count_member(json, "decisions")};
}

}  // namespace

Json to_json(const CheckerDescription& checker) {
  Json allocators = Json::array();
  for (const SubjectDescription& each : checker.allocators) {
    allocators.push_back(
        {{"name", each.name}, {"plugin", each.plugin}, {"summary", each.summary}, {"test_only", each.test_only}});
  }
  Json models = Json::array();
  for (const Model& model : checker.models) models.push_back(to_json(model));
  return {{"protocol", version},      {"races", checker.races}, {"strategies", checker.strategies},
          {"allocators", allocators}, {"models", models},       {"broken_plugins", to_json(checker.broken_plugins)}};
}

Json to_json(const CheckerCommand& command) { return std::visit(CommandWriter{}, command); }

Json to_json(const CheckerEvent& event) { return std::visit(EventWriter{}, event); }

CheckerDescription checker_from_json(const Json& json) {
  require_version(json);
  CheckerDescription checker;
  checker.races = truth_member_or(json, "races", false);
  checker.strategies = text_member(json, "strategies");
  for (const Json& each : list_member(json, "allocators")) {
    checker.allocators.push_back({text_member(each, "name"), text_member_or(each, "plugin", ""),
                                  text_member_or(each, "summary", ""), truth_member_or(each, "test_only", false)});
  }
  for (const Json& model : list_member(json, "models")) checker.models.push_back(model_from_json(model));
  checker.broken_plugins = broken_plugins_from_json(json);
  return checker;
}

CheckerCommand checker_command_from_json(const Json& json) {
  const std::string name = text_member(json, "command");
  if (name == "explore") {
    return Explore{.target = target_of(json),
                   .strategy = text_member(json, "strategy"),
                   .first_seed = count_member_or(json, "first_seed", 1),
                   .seeds = count_member(json, "seeds"),
                   .stop_at_failure = truth_member_or(json, "stop_at_failure", true),
                   .apart = truth_member_or(json, "apart", false)};
  }
  if (name == "replay") return replay_from_json(json);
  if (name == "shrink") {
    return Shrink{target_of(json), text_member(json, "schedule"), truth_member_or(json, "apart", false)};
  }
  if (name == "quit") return Quit{};
  throw Malformed(fmt::format("there is no command \"{}\"; the commands are explore, replay, shrink, quit", name));
}

CheckerEvent checker_event_from_json(const Json& json) {
  const std::string name = text_member(json, "event");
  if (name == "ready") return CheckerReady{count_member(json, "protocol"), truth_member_or(json, "races", false)};
  if (name == "explored") {
    Explored event{.tried = count_member(json, "tried"),
                   .failed = count_member(json, "failed"),
                   .steps = count_member(json, "steps"),
                   .exhausted = truth_member_or(json, "exhausted", false),
                   .first = {}};
    if (optional_member(json, "first") != nullptr) event.first = run_from_json(object_member(json, "first"));
    return event;
  }
  if (name == "replayed") {
    return Replayed{count_member(json, "times"), count_member(json, "identical"),
                    run_from_json(object_member(json, "run"))};
  }
  if (name == "shrunk") return Shrunk{count_member(json, "runs"), run_from_json(object_member(json, "run"))};
  if (name == "unsupported") return Unsupported{text_member(json, "reason")};
  if (name == "refused") return Refused{text_member(json, "reason")};
  if (name == "protocol_error") return ProtocolError{text_member(json, "reason")};
  throw Malformed(fmt::format("there is no event \"{}\"", name));
}

}  // namespace allocbench::protocol
