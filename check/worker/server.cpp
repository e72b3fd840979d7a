#include "check/worker/server.hpp"

#include <fmt/format.h>

#include "check/library.hpp"
#include "check/races.hpp"
#include "check/search.hpp"
#include "protocol/checker_command.hpp"
#include "protocol/checker_json.hpp"
#include "protocol/version.hpp"
#include "simt/cpu/search/schedule.hpp"

namespace allocbench::checker {
namespace {

using protocol::Malformed;

// UserMistake is a wrong strategy or schedule of the user. Only this program can detect such a mistake.
struct UserMistake : std::runtime_error {
  using std::runtime_error::runtime_error;
};

check::Strategy strategy_of(const std::string& text) {
  const auto strategy = check::Strategy::parse(text);
  if (!strategy) {
    throw UserMistake(fmt::format("\"{}\" is not a strategy; the strategies are {}", text, check::strategy_forms));
  }
  return *strategy;
}

void require_schedule(const std::string& text) {
  try {
    simt::parse_schedule(text);
  } catch (const simt::Fault& fault) {
    throw UserMistake(fmt::format("the schedule is not valid: {}", fault.what()));
  }
}

protocol::CheckedRun to_message(const check::Failure& failure) {
  return {failure.seed,     check::outcome_word(failure.outcome), failure.summary, failure.report, failure.schedule,
          failure.decisions};
}

protocol::CheckerEvent run(check::Search& search, const protocol::Explore& command) {
  const check::SearchResult result =
      search.explore(strategy_of(command.strategy), command.first_seed, command.seeds,
                     {.stop_at_failure = command.stop_at_failure, .apart = command.apart});
  protocol::Explored event{result.tried, result.failed, result.steps, result.exhausted, {}};
  if (result.first) event.first = to_message(*result.first);
  return event;
}

protocol::CheckerEvent run(check::Search& search, const protocol::Replay& command) {
  if (command.schedule) require_schedule(*command.schedule);
  const auto once = [&] {
    return to_message(command.schedule ? search.replay(*command.schedule)
                                       : search.replay(strategy_of(command.strategy), command.seed));
  };
  protocol::Replayed event{command.times, 1, once()};
  for (std::uint64_t i = 1; i < command.times; ++i) {
    if (once() == event.run) ++event.identical;
  }
  return event;
}

protocol::CheckerEvent run(check::Search& search, const protocol::Shrink& command) {
  require_schedule(command.schedule);
  std::uint64_t runs = 0;
  const check::Failure shrunk = search.shrink(command.schedule, command.apart, runs);
  return protocol::Shrunk{runs, to_message(shrunk)};
}

}  // namespace

template <class Command>
protocol::CheckerEvent Server::answer(const Command& command) {
  const auto& [allocator, model] = command.target;
  const check::Subject* subject = subjects_.find(allocator);
  if (subject == nullptr) throw Malformed(fmt::format("there is no allocator \"{}\"; see --describe", allocator));
  const std::string why = subject->unsupported(model);
  if (!why.empty()) return protocol::Unsupported{why};
  check::Search search(*subject, model);
  return run(search, command);
}

void Server::write(const protocol::CheckerEvent& event) const { events_.write(protocol::to_json(event)); }

int Server::serve(std::istream& commands) {
  write(protocol::CheckerReady{protocol::version, check::races_are_seen()});
  for (std::string line; std::getline(commands, line);) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;  // a user may type empty lines by hand
    try {
      const auto command = protocol::checker_command_from_json(protocol::parse_object(line, "a command"));
      if (std::holds_alternative<protocol::Quit>(command)) return 0;
      std::visit(
          [this](const auto& each) {
            if constexpr (requires { each.target; }) write(answer(each));
          },
          command);
    } catch (const UserMistake& mistake) {
      write(protocol::Refused{mistake.what()});
    } catch (const Malformed& error) {
      write(protocol::ProtocolError{error.what()});
      return protocol::exit_malformed_command;
    } catch (const simt::Fault& fault) {
      // The host is out of resources. Failures of the subject are sent as answers.
      write(protocol::ProtocolError{fault.what()});
      return protocol::exit_malformed_command;
    }
  }
  return 0;
}

protocol::CheckerDescription describe(const check::SubjectList& subjects, std::vector<protocol::BrokenPlugin> broken) {
  protocol::CheckerDescription checker{
      check::races_are_seen(), check::strategy_forms, {}, check::model_library(), std::move(broken)};
  for (const auto& subject : subjects.all()) {
    checker.allocators.push_back({std::string(subject->traits().name), std::string(subject->plugin()),
                                  std::string(subject->traits().summary), subject->traits().test_only});
  }
  return checker;
}

}  // namespace allocbench::checker
