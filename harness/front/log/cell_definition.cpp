#include "harness/front/log/cell_definition.hpp"

#include "harness/protocol/parameter_json.hpp"

namespace allocbench::front {

void read_definition(CellHistory& cell, const protocol::Json& json) {
  cell.id = protocol::text_member(json, "id");
  cell.allocator = protocol::text_member(json, "allocator");
  cell.label = protocol::text_member_or(json, "label", cell.allocator);
  cell.allocator_parameters = protocol::values_from_json(protocol::member(json, "allocator_parameters"));
  cell.workload = protocol::text_member(json, "workload");
  cell.workload_parameters = protocol::values_from_json(protocol::member(json, "workload_parameters"));
  cell.pool_bytes = protocol::count_member(json, "pool_bytes");
  cell.backend = protocol::text_member(json, "backend");
  cell.seed = protocol::count_member(json, "seed");
  cell.state = protocol::text_member(json, "state");
  cell.axes = protocol::values_from_json(protocol::member(json, "axes"));
}

}  // namespace allocbench::front
