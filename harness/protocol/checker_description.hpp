// What the checking workers say about themselves: the answer to their --describe.
#pragma once

#include <string>
#include <vector>

#include "harness/protocol/json_members.hpp"

namespace allocbench::protocol {

struct SubjectDescription {
  std::string name;
  std::string plugin;
  std::string summary;
  bool test_only = false;
};

struct CheckerDescription {
  bool races = false;
  std::string strategies;  // the forms, for messages
  std::vector<SubjectDescription> allocators;
  std::vector<Json> models;  // documents that only check/ understands, handed on as they are
};

Json to_json(const CheckerDescription& checker);
// Throws Malformed; so does another version of the protocol.
CheckerDescription checker_from_json(const Json& json);

}  // namespace allocbench::protocol
