// A cell: the unit that is measured once. Plan, log and results use the same members for it.
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
  std::string label;   // of the allocator in its config; otherwise its id
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

// Exactly the members that define the cell, without the name of the figure and without the number and time of
// measurements.
nlohmann::ordered_json cell_definition(const CellDescription& cell);

// Reads the event `cell` of a log or a cell of results.json. Throws protocol::Malformed if a member is missing or has
// another type.
CellDescription cell_description_from(const nlohmann::ordered_json& json);

}  // namespace allocbench::front
