// Models as JSON text, the form in which users write them and the front end passes them on.
//
//   { "name": "ring", "description": "...", "blocks": 1, "threads_per_block": 3, "rounds": 6, "launches": 1,
//     "sizes": [16, "pool/4"], "null": "allowed" | "failure", "reset": false, "refill": false,
//     "steps": [ {"do": "malloc", "slot": 0, "size": 1},
//                {"do": "malloc", "slot": 1, "size": "spread", "lanes": {"every": 2, "first": 1}},
//                {"do": "free", "slot": 0, "from": 1}, {"do": "free_null"}, {"do": "barrier"} ] }
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "check/model.hpp"

namespace allocbench::check {

// Fills `model`; returns what is wrong, one sentence each with its JSON pointer. Empty when the model can run.
std::vector<std::string> read_model(const nlohmann::ordered_json& json, Model& model);

nlohmann::ordered_json to_json(const Model& model);

}  // namespace allocbench::check
