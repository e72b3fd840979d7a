#include "harness/front/workers/worker_answer.hpp"

#include <fmt/format.h>

#include "harness/front/common/build_hints.hpp"
#include "protocol/event_json.hpp"
#include "protocol/version.hpp"

namespace allocbench::front {
namespace {

// Returns the beginning of an unknown line, long enough to recognise it.
std::string shortened(const std::string& line) { return line.size() <= 120 ? line : line.substr(0, 120) + "..."; }

std::optional<protocol::Event> event_in(const std::string& line) {
  return protocol::event_from_json(protocol::parse_object(line, "an event"));
}

// Returns the cell of an event, if it has one.
std::optional<std::string> cell_of(const protocol::Event& event) {
  return std::visit(
      [](const auto& each) -> std::optional<std::string> {
        if constexpr (requires { each.cell; }) return each.cell;
        return std::nullopt;
      },
      event);
}

}  // namespace

std::optional<WorkerAnswer> answer_in(const std::string& line, std::string_view wanted, const std::string& cell_id) {
  const auto unexpected = [&](const std::string& why) {
    return WorkerAnswer{.complaint = fmt::format("the worker answered \"{}\" where \"{}\" was expected{}",
                                                 shortened(line), wanted, why)};
  };
  std::optional<protocol::Event> event;
  try {
    event = event_in(line);
  } catch (const protocol::Malformed& error) {
    return unexpected(fmt::format(": {}", error.what()));
  }
  if (!event) return std::nullopt;
  if (const auto* stage = std::get_if<protocol::Stage>(&*event)) return WorkerAnswer{.stage = stage->stage};
  if (const auto* error = std::get_if<protocol::ProtocolError>(&*event)) {
    return WorkerAnswer{.complaint = fmt::format("the worker refused a command: {}", error->reason)};
  }
  // An answer about another cell would assign a number to the wrong cell.
  if (!cell_id.empty() && cell_of(*event).value_or(cell_id) != cell_id) return unexpected(": another cell");
  const bool answers = std::holds_alternative<protocol::Failed>(*event) ||
                       std::holds_alternative<protocol::NoEnvironment>(*event) || protocol::name_of(*event) == wanted;
  if (!answers) return unexpected("");
  return WorkerAnswer{.event = std::move(event)};
}

bool says_loaded(const std::string& line) {
  try {
    const auto event = event_in(line);
    return event && std::holds_alternative<protocol::Loaded>(*event);
  } catch (const protocol::Malformed&) {
    return false;
  }
}

FirstLine first_line(const std::string& line, std::string_view program) {
  try {
    const auto event = event_in(line);
    if (event && std::holds_alternative<protocol::NoEnvironment>(*event)) {
      return {.complaint = std::get<protocol::NoEnvironment>(*event).reason};
    }
    const auto* ready = event ? std::get_if<protocol::Ready>(&*event) : nullptr;
    if (ready != nullptr && ready->protocol == protocol::version) return {.device = ready->device};
  } catch (const protocol::Malformed&) {
    // The complaint below quotes the line, which says more than the exception.
  }
  return {.complaint = fmt::format(
              "{} began with \"{}\" instead of \"ready\" of protocol {}. Build both programs from one tree with {}.",
              program, shortened(line), protocol::version, how_to_build_programs)};
}

}  // namespace allocbench::front
