// These types describe a checking worker. The worker prints them as JSON if it is started with --describe.
#pragma once

#include <string>
#include <vector>

#include "protocol/description.hpp"
#include "protocol/model.hpp"

namespace allocbench::protocol {

struct SubjectDescription {
  std::string name;
  std::string plugin;
  std::string summary;
  bool test_only = false;
};

struct CheckerDescription {
  bool races = false;
  std::string strategies;  // allowed forms of a strategy, for messages
  std::vector<SubjectDescription> allocators;
  std::vector<Model> models;
  std::vector<BrokenPlugin> broken_plugins;
};

}  // namespace allocbench::protocol
