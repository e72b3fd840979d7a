#include "harness/worker/command_json.hpp"

#include <fmt/format.h>

namespace allocbench::worker {
namespace {

using nlohmann::json;

std::uint64_t count(const json& value, const char* name) {
  if (!value.is_number_unsigned()) throw BadCommand(fmt::format("\"{}\": {} is no count", name, value.dump()));
  return value.get<std::uint64_t>();
}

}  // namespace

json parse_command(const std::string& line) {
  json command = json::parse(line, nullptr, false);
  if (command.is_discarded() || !command.is_object()) throw BadCommand("no JSON object: " + line);
  return command;
}

const json& member(const json& command, const char* name) {
  const auto found = command.find(name);
  if (found == command.end()) throw BadCommand(fmt::format("\"{}\" is missing in {}", name, command.dump()));
  return *found;
}

std::string text_member(const json& command, const char* name) {
  const json& value = member(command, name);
  if (!value.is_string()) throw BadCommand(fmt::format("\"{}\": {} is no string", name, value.dump()));
  return value.get<std::string>();
}

std::uint64_t count_member(const json& command, const char* name) { return count(member(command, name), name); }

std::uint64_t count_member_or(const json& command, const char* name, std::uint64_t otherwise) {
  const auto found = command.find(name);
  return found == command.end() ? otherwise : count(*found, name);
}

}  // namespace allocbench::worker
