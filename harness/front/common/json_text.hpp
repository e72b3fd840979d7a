// These functions treat JSON as text: strict parsing with positions, the canonical form, and its hash.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "harness/front/common/problems.hpp"

namespace allocbench::front {

// JSON that is parsed once and then shared without changes, such as the config and the host.
using Document = std::shared_ptr<const nlohmann::ordered_json>;

// Parses JSON that a user wrote. Adds a problem for wrong syntax, duplicate keys (which JSON libraries silently drop),
// numbers out of range, and too many levels or keys. If there are problems, the result must not be used.
nlohmann::ordered_json parse_strictly(std::string_view text, Problems& problems);

// Returns the JSON with sorted keys and without blanks. So neither the order of keys nor blanks change the text.
std::string canonical_text(const nlohmann::ordered_json& json);

// Returns 64 bits of FNV-1a with a final mix, as 16 hex digits. The hash must never change, because cell ids are keys
// of stored results.
std::string stable_hash(std::string_view text);

}  // namespace allocbench::front
