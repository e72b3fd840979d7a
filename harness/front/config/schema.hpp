// The file configs/schema/config.schema.json is built into the program. It is the only list of the keys of a config and
// their allowed values. Editors and plots read the same file.
//
// The checker implements the part of JSON Schema (draft 07) that the file uses. A library would need fewer lines here,
// but it reports "no subschema has succeeded", while a user needs the key, the allowed values and the nearest name.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "harness/front/common/problems.hpp"

namespace allocbench::front {

using SchemaNode = nlohmann::ordered_json;

// Returns definitions/<name>. Throws std::logic_error if the schema does not have it.
const SchemaNode& schema_definition(std::string_view name);
// Returns the node itself, or the target of its "$ref".
const SchemaNode& resolved(const SchemaNode& node);
// Returns the keys of an object's "properties".
std::vector<std::string> schema_keys(const SchemaNode& node);

// Adds a problem for everything in `json` that the node does not allow.
void check_against(const SchemaNode& node, const nlohmann::ordered_json& json, const std::string& pointer,
                   Problems& problems);

}  // namespace allocbench::front
