// Parses a line of a worker: the answer to a command, or the worker's first line. Pure functions of the line.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "protocol/event.hpp"

namespace allocbench::front {

struct WorkerAnswer {
  std::optional<protocol::Event> event = {};  // the expected final event, a Failed, or a NoEnvironment
  std::string complaint = {};                 // why the line is not a valid answer; empty if it is one
  std::string stage = {};                     // name of a stage; the line does not answer a command
};

// `wanted` is the name of the expected final event, and `cell_id` its cell (empty = none). nullopt if the event does
// not answer a command.
std::optional<WorkerAnswer> answer_in(const std::string& line, std::string_view wanted, const std::string& cell_id);

struct FirstLine {
  std::optional<protocol::Device> device = {};  // of a worker that is ready
  std::string complaint = {};                   // why it is not
};

// Whether the line reports that a waiting worker has loaded its plug-ins.
bool says_loaded(const std::string& line);

// `program` is the worker's path, for the error message.
FirstLine first_line(const std::string& line, std::string_view program);

}  // namespace allocbench::front
