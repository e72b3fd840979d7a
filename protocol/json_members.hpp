// These functions read members of JSON objects. If a member is wrong, they throw Malformed with its name.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/bounds.hpp"

namespace allocbench::protocol {

using Json = nlohmann::ordered_json;

// The JSON differs from its definition in harness/README.md, or in docs/find-allocator-bugs.md for models.
struct Malformed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Returns the JSON as text for a message, cut after 80 bytes.
std::string excerpt(const Json& json);

bool nests_deeper_than(std::string_view text, int levels);

// Parses a JSON object with at most deepest_json levels. `what` names the object in messages, such as "an event" or
// "a command".
Json parse_object(std::string_view text, std::string_view what);

// Returns the member, which must exist.
const Json& member(const Json& object, std::string_view name);
// Returns null if the member is missing or null.
const Json* optional_member(const Json& object, std::string_view name);

const Json& object_member(const Json& object, std::string_view name);
const Json& list_member(const Json& object, std::string_view name);
std::string text_member(const Json& object, std::string_view name);
std::uint64_t count_member(const Json& object, std::string_view name);
// The number must be finite.
double number_member(const Json& object, std::string_view name);
// The number must be from 0 to longest_seconds.
double seconds_member(const Json& object, std::string_view name);

std::string text_member_or(const Json& object, std::string_view name, std::string otherwise);
std::uint64_t count_member_or(const Json& object, std::string_view name, std::uint64_t otherwise);
bool truth_member_or(const Json& object, std::string_view name, bool otherwise);

std::optional<std::string> optional_text(const Json& object, std::string_view name);
std::optional<std::uint64_t> optional_count(const Json& object, std::string_view name);
std::optional<bool> optional_truth(const Json& object, std::string_view name);
std::optional<std::vector<std::string>> optional_texts(const Json& object, std::string_view name);
std::optional<double> optional_seconds(const Json& object, std::string_view name);

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

}  // namespace allocbench::protocol
