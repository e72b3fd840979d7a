#include "harness/checker/server.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "check/library.hpp"
#include "check/model_json.hpp"
#include "check/races.hpp"
#include "harness/protocol/version.hpp"

namespace allocbench::checker {
namespace {

using protocol::Json;
using protocol::Malformed;
using protocol::text_member;

// What the user of the front end wrote and this program alone understands: a model, a strategy.
struct Refused : std::runtime_error {
  using std::runtime_error::runtime_error;
};

check::Model model_of(const Json& command) {
  check::Model model;
  const Json& text = protocol::object_member(command, "model");
  const std::vector<std::string> problems = check::read_model(text, model);
  if (!problems.empty()) {
    throw Refused(
        fmt::format("model \"{}\":\n  {}", protocol::text_member_or(text, "name", "?"), fmt::join(problems, "\n  ")));
  }
  return model;
}

check::Strategy strategy_of(const Json& command) {
  const std::string text = text_member(command, "strategy");
  const auto strategy = check::Strategy::parse(text);
  if (!strategy)
    throw Refused(fmt::format("\"{}\" is not a strategy; the strategies are {}", text, check::strategy_forms));
  return *strategy;
}

Json to_json(const check::Failure& failure) {
  return {{"seed", failure.seed},         {"outcome", check::outcome_word(failure.outcome)},
          {"summary", failure.summary},   {"report", failure.report},
          {"schedule", failure.schedule}, {"decisions", failure.decisions}};
}

Json explore(check::Search& search, const Json& command) {
  const check::SearchResult result =
      search.explore(strategy_of(command), protocol::count_member_or(command, "first_seed", 1),
                     protocol::count_member(command, "seeds"),
                     {.stop_at_failure = protocol::truth_member_or(command, "stop_at_failure", true),
                      .apart = protocol::truth_member_or(command, "apart", false)});
  Json event = {{"event", "explored"},
                {"tried", result.tried},
                {"failed", result.failed},
                {"steps", result.steps},
                {"exhausted", result.exhausted}};
  if (result.first) event["first"] = to_json(*result.first);
  return event;
}

Json replay(check::Search& search, const Json& command) {
  const std::uint64_t times = protocol::count_member_or(command, "times", 1);
  const auto once = [&] {
    return command.contains("schedule") ? search.replay(text_member(command, "schedule"))
                                        : search.replay(strategy_of(command), protocol::count_member(command, "seed"));
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

Json shrink(check::Search& search, const Json& command) {
  std::uint64_t runs = 0;
  const check::Failure shrunk =
      search.shrink(text_member(command, "schedule"), protocol::truth_member_or(command, "apart", false), runs);
  return {{"event", "shrunk"}, {"runs", runs}, {"run", to_json(shrunk)}};
}

}  // namespace

int Server::serve(std::istream& commands) {
  events_.write({{"event", "ready"}, {"protocol", protocol::version}, {"races", check::races_are_seen()}});
  for (std::string line; !ending_ && std::getline(commands, line);) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;  // typed by hand
    try {
      const Json event = answer(protocol::parse_object(line, "a command"));
      if (!event.is_null()) events_.write(event);
    } catch (const Refused& refused) {
      events_.write({{"event", "refused"}, {"reason", refused.what()}});
    } catch (const Malformed& error) {
      events_.write({{"event", "protocol_error"}, {"reason", error.what()}});
      return protocol::exit_malformed_command;
    } catch (const simt::Fault& fault) {
      // A schedule that cannot be parsed, or a host out of resources; failures of the subject are answers.
      events_.write({{"event", "protocol_error"}, {"reason", fault.what()}});
      return protocol::exit_malformed_command;
    }
  }
  return 0;
}

Json Server::answer(const Json& command) {
  const std::string name = text_member(command, "command");
  if (name == "quit") {
    ending_ = true;
    return nullptr;
  }
  const std::string allocator = text_member(command, "allocator");
  const check::Subject* subject = subjects_.find(allocator);
  if (subject == nullptr) throw Malformed(fmt::format("there is no allocator \"{}\"; see --describe", allocator));
  const check::Model model = model_of(command);
  const std::string why = subject->unsupported(model);
  if (!why.empty()) return {{"event", "unsupported"}, {"reason", why}};
  check::Search search(*subject, model);
  if (name == "explore") return explore(search, command);
  if (name == "replay") return replay(search, command);
  if (name == "shrink") return shrink(search, command);
  throw Malformed("there is no command \"" + name + "\"; the commands are explore, replay, shrink, quit");
}

protocol::CheckerDescription describe(const check::SubjectList& subjects) {
  protocol::CheckerDescription checker{check::races_are_seen(), check::strategy_forms, {}, {}};
  for (const auto& subject : subjects.all()) {
    checker.allocators.push_back({std::string(subject->traits().name), std::string(subject->plugin()),
                                  std::string(subject->traits().summary), subject->traits().test_only});
  }
  for (const check::Model& model : check::model_library()) checker.models.push_back(check::to_json(model));
  return checker;
}

}  // namespace allocbench::checker
