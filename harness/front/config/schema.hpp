// configs/schema/config.schema.json, built into the program: the one list of the keys of a config and of what they may
// hold. Editors and plots read the same file.
//
// The checker knows the part of JSON Schema (draft 07) that the file uses. A library would do with fewer lines here,
// but says "no subschema has succeeded" where a user needs the key, what is allowed, and the nearest name.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "harness/front/common/problems.hpp"

namespace allocbench::front {

using SchemaNode = nlohmann::ordered_json;

// definitions/<name>. Throws std::logic_error when the schema has none.
const SchemaNode& schema_definition(std::string_view name);
// The node itself, or what its "$ref" names.
const SchemaNode& resolved(const SchemaNode& node);
// The keys of an object's "properties".
std::vector<std::string> schema_keys(const SchemaNode& node);

// Adds a problem for everything in `json` that the node does not allow.
void check_against(const SchemaNode& node, const nlohmann::ordered_json& json, const std::string& pointer,
                   Problems& problems);

}  // namespace allocbench::front
