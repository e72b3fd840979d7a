// This file parses a line of a worker: the answer to a command, or the worker's first line. All functions are pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "protocol/event.hpp"

namespace allocbench::front {

struct WorkerAnswer {
  std::optional<protocol::Event> event = {};  // expected final event, a Failed, or a NoEnvironment
  std::string complaint = {};                 // why the line is not a valid answer, or empty
  std::string stage = {};                     // name of a stage; such a line does not answer a command
};

// Reads an answer. `wanted` is the name of the expected final event, and `cell_id` its cell (empty if it has none).
// Returns nullopt for an event with an unknown name.
std::optional<WorkerAnswer> answer_in(const std::string& line, std::string_view wanted, const std::string& cell_id);

struct FirstLine {
  std::optional<protocol::Device> device = {};  // device of a worker that is ready
  std::string complaint = {};                   // why the worker is not ready
};

// Returns whether the line reports that a waiting worker has loaded its plug-ins.
bool says_loaded(const std::string& line);

// Reads the first line. `program` is the worker's path, for the error message.
FirstLine first_line(const std::string& line, std::string_view program);

}  // namespace allocbench::front
