#include "harness/front/plan/cell.hpp"

#include <nlohmann/json.hpp>

#include "protocol/json_members.hpp"
#include "protocol/parameter_json.hpp"

namespace allocbench::front {
namespace {

// Removes the parameter `alignment` if it is 1, because the ids of kept results do not contain it.
ParameterValues named_in_ids(ParameterValues parameters) {
  std::erase_if(parameters, [](const auto& each) {
    return each.first == "alignment" && each.second == ParameterValue(std::uint64_t{1});
  });
  return parameters;
}

}  // namespace

nlohmann::ordered_json cell_definition(const CellDescription& cell) {
  nlohmann::ordered_json definition{{"allocator", cell.allocator},
                                    {"allocator_parameters", protocol::to_json(cell.allocator_parameters)},
                                    {"workload", cell.workload},
                                    {"workload_parameters", protocol::to_json(named_in_ids(cell.workload_parameters))},
                                    {"pool_bytes", cell.pool_bytes},
                                    {"backend", cell.backend},
                                    {"seed", cell.seed},
                                    {"state", cell.state}};
  // These members are omitted if they are the default or have no meaning, so cells keep the ids of kept results.
  if (cell.aged_rounds) definition["aged_rounds"] = *cell.aged_rounds;
  if (cell.l2 != "warm") definition["l2"] = cell.l2;
  return definition;
}

CellDescription cell_description_from(const nlohmann::ordered_json& json) {
  CellDescription cell;
  cell.id = protocol::text_member(json, "id");
  cell.series = protocol::text_member(json, "series");
  cell.allocator = protocol::text_member(json, "allocator");
  cell.label = protocol::text_member_or(json, "label", cell.allocator);
  cell.display_name = protocol::text_member_or(json, "display_name", "");
  cell.form = protocol::text_member_or(json, "form", "");
  cell.restrictions = protocol::optional_texts(json, "restrictions").value_or(std::vector<std::string>{});
  cell.allocator_parameters = protocol::values_from_json(protocol::member(json, "allocator_parameters"));
  cell.workload = protocol::text_member(json, "workload");
  cell.workload_parameters = protocol::values_from_json(protocol::member(json, "workload_parameters"));
  cell.pool_bytes = protocol::count_member(json, "pool_bytes");
  cell.backend = protocol::text_member(json, "backend");
  cell.seed = protocol::count_member(json, "seed");
  cell.state = protocol::text_member(json, "state");
  cell.aged_rounds = protocol::optional_count(json, "aged_rounds");
  cell.l2 = protocol::text_member_or(json, "l2", "warm");
  cell.axes = protocol::values_from_json(protocol::member(json, "axes"));
  return cell;
}

}  // namespace allocbench::front
