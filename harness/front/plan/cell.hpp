// A cell: the unit that is measured once. The plan, the log and the results describe it by the same members.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "protocol/parameter.hpp"

namespace allocbench::front {

struct CellDescription {
  std::string id;      // 16 hex digits: the hash of cell_definition()
  std::string series;  // label and the axes other than the primary one
  std::string label;   // of the allocator in its config; its id where the config has none
  std::string allocator;
  std::string display_name;               // of the allocator
  std::string form;                       // of the allocator
  std::vector<std::string> restrictions;  // of the allocator
  ParameterValues allocator_parameters;
  std::string workload;
  ParameterValues workload_parameters;
  std::uint64_t pool_bytes = 0;
  std::string backend;
  std::uint64_t seed = 0;
  std::string state;
  std::optional<std::uint64_t> aged_rounds;  // of state aged; none in other states
  std::string l2;
  ParameterValues axes;  // the cell's values on the swept axes
};

// Everything that defines the cell and nothing else: not the figure's name, not how often or how long it is measured.
nlohmann::ordered_json cell_definition(const CellDescription& cell);

// From the event `cell` of a log or from a cell of results.json. Throws protocol::Malformed where a member is missing
// or of another type.
CellDescription cell_description_from(const nlohmann::ordered_json& json);

}  // namespace allocbench::front
