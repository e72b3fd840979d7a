// A cell is one combination of allocator, workload, their parameters, pool size, back end, seed and other settings.
// Plan, log and results use the same members for it.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "protocol/parameter.hpp"

namespace allocbench::front {

struct CellDescription {
  std::string id;      // hash of cell_definition() in 16 hex digits
  std::string series;  // label, and the values on axes that do not advance with plot.x (or, without it, the first axis)
  std::string label;   // label of the allocator in its config, otherwise its id
  std::string allocator;
  std::string display_name;               // display name of the allocator
  std::string form;                       // form of the allocator
  std::vector<std::string> restrictions;  // restrictions of the allocator
  ParameterValues allocator_parameters;
  std::string workload;
  ParameterValues workload_parameters;
  std::uint64_t pool_bytes = 0;
  std::string backend;
  std::uint64_t seed = 0;
  std::string state;
  std::optional<std::uint64_t> aged_rounds;  // rounds of ageing, in state `aged` only
  std::string l2;
  ParameterValues axes;  // the cell's values on the swept axes
};

// Returns exactly the members that define the cell. They exclude the name of the figure, the number of measurements and
// the time limits.
nlohmann::ordered_json cell_definition(const CellDescription& cell);

// Reads the event `cell` of a log or a cell of results.json. Throws protocol::Malformed if a member is missing or has
// another type.
CellDescription cell_description_from(const nlohmann::ordered_json& json);

}  // namespace allocbench::front
