// These functions convert models to and from JSON, the form in which users write them.
//
//   { "name": "ring", "description": "...", "blocks": 1, "threads_per_block": 3, "rounds": 6, "launches": 1,
//     "kernels": 1, "sizes": [16, "pool/4"], "null": "allowed" | "failure", "reset": false, "refill": false,
//     "heap": "first" | "second" | "many_units",
//     "steps": [ {"do": "malloc", "slot": 0, "size": 1, "fill": true},
//                {"do": "malloc", "slot": 1, "size": "spread", "lanes": {"every": 2, "first": 1}},
//                {"do": "free", "slot": 0, "from": 1}, {"do": "free_null"}, {"do": "barrier"} ] }
#pragma once

#include <string>
#include <vector>

#include "protocol/json_members.hpp"
#include "protocol/model.hpp"

namespace allocbench::protocol {

// Fills `model` and returns its mistakes: all wrong members with their JSON pointers, or else the first broken rule.
// Returns nothing if the model can run.
std::vector<std::string> read_model(const Json& json, Model& model);
// Returns the model. If it has such mistakes, throws Malformed with its name and a line for each mistake.
Model model_from_json(const Json& json);

Json to_json(const Model& model);

}  // namespace allocbench::protocol
