#include "protocol/command_json.hpp"

#include <fmt/format.h>

#include "protocol/parameter_json.hpp"

namespace allocbench::protocol {
namespace {

ParameterValues parameters_of(const Json& json) {
  const Json* parameters = optional_member(json, "parameters");
  return parameters == nullptr ? ParameterValues{} : values_from_json(*parameters);
}

StartState state_of(const Json& json) {
  const std::string word = text_member_or(json, "state", "fresh");
  if (const auto state = start_state_of(word)) return *state;
  throw Malformed(fmt::format("\"state\" must be fresh, reused or aged; found \"{}\"", word));
}

L2State l2_of(const Json& json) {
  const std::string word = text_member_or(json, "l2", "warm");
  if (const auto state = l2_state_of(word)) return *state;
  throw Malformed(fmt::format("\"l2\" must be warm or flushed; found \"{}\"", word));
}

CellSettings settings_from_json(const Json& json) {
  return {.seed = count_member_or(json, "seed", 0),
          .state = state_of(json),
          .aged_rounds = count_member_or(json, "aged_rounds", 0),
          .l2 = l2_of(json),
          .warmups = count_member_or(json, "warmups", 0),
          .counted_passes = count_member_or(json, "counted_passes", 1),
          .energy_seconds = optional_seconds(json, "energy_s").value_or(0)};
}

SampleCell sample_request_from_json(const Json& json) {
  SampleCell request{text_member(json, "cell"), count_member_or(json, "samples", 1),
                     truth_member_or(json, "stages", false)};
  if (request.samples == 0) throw Malformed("\"samples\" must be at least 1");
  return request;
}

VerifyCell verify_request_from_json(const Json& json) {
  return {text_member(json, "cell"),
          optional_seconds(json, "seconds"),
          optional_seconds(json, "contents_seconds"),
          truth_member_or(json, "stages", false),
          text_member_or(json, "trace", ""),
          count_member_or(json, "trace_calls", 0)};
}

Json about_cell(const char* command, const std::string& cell) { return {{"command", command}, {"cell", cell}}; }

struct WorkerCommandWriter {
  Json operator()(const LoadAllocator& command) const {
    return {{"command", "allocator"},
            {"allocator", command.allocator},
            {"parameters", to_json(command.parameters)},
            {"pool_bytes", command.pool_bytes}};
  }
  Json operator()(const OpenCell& command) const {
    Json json{{"command", "open"},
              {"cell", command.cell},
              {"workload", command.workload},
              {"parameters", to_json(command.parameters)}};
    json.update(to_json(command.settings));
    return json;
  }
  Json operator()(const VerifyCell& command) const {
    Json json = about_cell("verify", command.cell);
    if (command.seconds) json["seconds"] = *command.seconds;
    if (command.contents_seconds) json["contents_seconds"] = *command.contents_seconds;
    if (command.stages) json["stages"] = true;
    if (!command.trace.empty()) {
      json["trace"] = command.trace;
      json["trace_calls"] = command.trace_calls;
    }
    return json;
  }
  Json operator()(const SampleCell& command) const {
    Json json = about_cell("sample", command.cell);
    if (command.samples != 1) json["samples"] = command.samples;
    if (command.stages) json["stages"] = true;
    return json;
  }
  Json operator()(const CloseCell& command) const { return about_cell("close", command.cell); }
  Json operator()(const AskProfile&) const { return {{"command", "profile"}}; }
  Json operator()(const Quit&) const { return {{"command", "quit"}}; }
};

}  // namespace

Json to_json(const CellSettings& settings) {
  Json json{{"seed", settings.seed},
            {"state", word(settings.state)},
            {"l2", word(settings.l2)},
            {"warmups", settings.warmups},
            {"counted_passes", settings.counted_passes}};
  if (settings.state == StartState::aged) json["aged_rounds"] = settings.aged_rounds;
  if (settings.energy_seconds > 0) json["energy_s"] = settings.energy_seconds;
  return json;
}

Json to_json(const Command& command) { return std::visit(WorkerCommandWriter{}, command); }

LoadAllocator allocator_request_from_json(const Json& json) {
  LoadAllocator request{text_member(json, "allocator"), parameters_of(json), count_member(json, "pool_bytes")};
  if (request.pool_bytes == 0) throw Malformed("\"pool_bytes\" must be at least 1");
  return request;
}

OpenCell cell_request_from_json(const Json& json) {
  return {.cell = text_member_or(json, "cell", ""),
          .workload = text_member(json, "workload"),
          .parameters = parameters_of(json),
          .settings = settings_from_json(json)};
}

Command command_from_json(const Json& json) {
  const std::string name = text_member(json, "command");
  if (name == "allocator") return allocator_request_from_json(json);
  if (name == "open") {
    text_member(json, "cell");  // required, because the answers repeat it
    return cell_request_from_json(json);
  }
  if (name == "verify") return verify_request_from_json(json);
  if (name == "sample") return sample_request_from_json(json);
  if (name == "close") return CloseCell{text_member(json, "cell")};
  if (name == "profile") return AskProfile{};
  if (name == "quit") return Quit{};
  throw Malformed(fmt::format(
      "there is no command \"{}\"; the commands are allocator, open, verify, sample, close, profile, quit", name));
}

}  // namespace allocbench::protocol
