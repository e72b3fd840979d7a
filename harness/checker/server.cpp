#include "harness/checker/server.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "check/library.hpp"
#include "check/model_json.hpp"
#include "check/races.hpp"
#include "harness/worker/command_json.hpp"

namespace allocbench::checker {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;
using worker::BadCommand;
using worker::text_member;

// What the user of the front end wrote and this program alone understands: a model, a strategy.
struct Refused : std::runtime_error {
  using std::runtime_error::runtime_error;
};

check::Model model_of(const json& command) {
  check::Model model;
  const ordered_json text = ordered_json::parse(worker::member(command, "model").dump());
  const std::vector<std::string> problems = check::read_model(text, model);
  if (!problems.empty()) {
    throw Refused(fmt::format("model \"{}\":\n  {}", text.value("name", "?"), fmt::join(problems, "\n  ")));
  }
  return model;
}

check::Strategy strategy_of(const json& command) {
  const std::string text = text_member(command, "strategy");
  const auto strategy = check::Strategy::parse(text);
  if (!strategy) throw Refused(fmt::format("\"{}\" is no strategy; there are {}", text, check::strategy_forms));
  return *strategy;
}

ordered_json to_json(const check::Failure& failure) {
  return {{"seed", failure.seed},         {"outcome", check::outcome_word(failure.outcome)},
          {"summary", failure.summary},   {"report", failure.report},
          {"schedule", failure.schedule}, {"decisions", failure.decisions}};
}

ordered_json explore(check::Search& search, const json& command) {
  const check::SearchResult result = search.explore(
      strategy_of(command), worker::count_member_or(command, "first_seed", 1), worker::count_member(command, "seeds"),
      {.stop_at_failure = command.value("stop_at_failure", true), .apart = command.value("apart", false)});
  ordered_json event = {{"event", "explored"},
                        {"tried", result.tried},
                        {"failed", result.failed},
                        {"steps", result.steps},
                        {"exhausted", result.exhausted}};
  if (result.first) event["first"] = to_json(*result.first);
  return event;
}

ordered_json replay(check::Search& search, const json& command) {
  const std::uint64_t times = worker::count_member_or(command, "times", 1);
  const auto once = [&] {
    return command.contains("schedule") ? search.replay(text_member(command, "schedule"))
                                        : search.replay(strategy_of(command), worker::count_member(command, "seed"));
  };
  const check::Failure first = once();
  std::uint64_t identical = 1;
  for (std::uint64_t i = 1; i < times; ++i) {
    const check::Failure again = once();
    if (again.outcome == first.outcome && again.schedule == first.schedule && again.report == first.report) {
      ++identical;
    }
  }
  return {{"event", "replayed"}, {"times", times}, {"identical", identical}, {"run", to_json(first)}};
}

ordered_json shrink(check::Search& search, const json& command) {
  std::uint64_t runs = 0;
  const check::Failure shrunk = search.shrink(text_member(command, "schedule"), command.value("apart", false), runs);
  return {{"event", "shrunk"}, {"runs", runs}, {"run", to_json(shrunk)}};
}

}  // namespace

int Server::serve(std::istream& commands) {
  events_.write({{"event", "ready"}, {"protocol", protocol_version}, {"races", check::races_are_seen()}});
  for (std::string line; !ending_ && std::getline(commands, line);) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;  // typed by hand
    try {
      const ordered_json event = answer(worker::parse_command(line));
      if (!event.is_null()) events_.write(event);
    } catch (const Refused& refused) {
      events_.write({{"event", "refused"}, {"reason", refused.what()}});
    } catch (const BadCommand& error) {
      events_.write({{"event", "protocol_error"}, {"reason", error.what()}});
      return exit_protocol_error;
    } catch (const simt::Fault& fault) {
      // A schedule that cannot be parsed, or a host out of resources; failures of the subject are answers.
      events_.write({{"event", "protocol_error"}, {"reason", fault.what()}});
      return exit_protocol_error;
    }
  }
  return 0;
}

ordered_json Server::answer(const json& command) {
  const std::string name = text_member(command, "command");
  if (name == "quit") {
    ending_ = true;
    return nullptr;
  }
  const std::string allocator = text_member(command, "allocator");
  const check::Subject* subject = subjects_.find(allocator);
  if (subject == nullptr) throw BadCommand(fmt::format("there is no allocator \"{}\"; see --describe", allocator));
  const check::Model model = model_of(command);
  const std::string why = subject->unsupported(model);
  if (!why.empty()) return {{"event", "unsupported"}, {"reason", why}};
  check::Search search(*subject, model);
  if (name == "explore") return explore(search, command);
  if (name == "replay") return replay(search, command);
  if (name == "shrink") return shrink(search, command);
  throw BadCommand("there is no command \"" + name + "\"; known are explore, replay, shrink, quit");
}

ordered_json describe(const check::SubjectList& subjects) {
  ordered_json allocators = ordered_json::array();
  for (const auto& subject : subjects.all()) {
    allocators.push_back({{"name", subject->traits().name},
                          {"plugin", subject->plugin()},
                          {"summary", subject->traits().summary},
                          {"test_only", subject->traits().test_only}});
  }
  ordered_json models = ordered_json::array();
  for (const check::Model& model : check::model_library()) models.push_back(check::to_json(model));
  return {{"protocol", protocol_version},
          {"races", check::races_are_seen()},
          {"strategies", check::strategy_forms},
          {"allocators", allocators},
          {"models", models}};
}

}  // namespace allocbench::checker
