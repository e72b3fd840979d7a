// Reading members of JSON objects. Everything wrong with one is a Malformed that names the member in plain words.
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

// JSON that is not what harness/README.md promises.
struct Malformed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Enough of a strange value to recognise it.
std::string excerpt(const Json& json);

bool nests_deeper_than(std::string_view text, int levels);

// Parses one line. `what` begins the complaint: "an event", "a command".
Json parse_object(std::string_view text, std::string_view what);

// The member, which must be there.
const Json& member(const Json& object, std::string_view name);
// Null where the member is missing or null.
const Json* optional_member(const Json& object, std::string_view name);

const Json& object_member(const Json& object, std::string_view name);
const Json& list_member(const Json& object, std::string_view name);
std::string text_member(const Json& object, std::string_view name);
std::uint64_t count_member(const Json& object, std::string_view name);
// Finite.
double number_member(const Json& object, std::string_view name);
// From 0 to longest_seconds.
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
