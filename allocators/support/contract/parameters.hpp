// Parameters of allocators and workloads are plain structs that describe themselves.
//
// A parameter struct lists its members once, in `fields()`. With this list the worker reads and checks JSON, fills in
// defaults and describes the parameters (`worker --describe`), so plug-ins do not parse anything. Example:
//
//   struct Parameters {
//     std::uint64_t page_bytes = 4096;
//     static auto fields() {
//       return std::tuple{Field{"page_bytes", &Parameters::page_bytes, "B", "bytes of one page",
//       "sec. 4.1"}.between(1024, 1 << 26)};
//     }
//   };
//
// This header must not use JSON, because device code includes it.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "protocol/parameter.hpp"

namespace allocbench {

// Field binds a description to a struct member of type bool, uint32_t, uint64_t, double, std::string or
// vector<uint64_t>.
template <class Struct, class T>
struct Field {
  using Member = T Struct::*;  // nvcc adds parentheses around a member pointer, which -Wparentheses rejects

  const char* name;
  Member member;
  const char* unit;
  const char* description;
  const char* source;
  double minimum = -std::numeric_limits<double>::infinity();
  double maximum = std::numeric_limits<double>::infinity();
  std::vector<std::string> choices = {};
  bool power_of_two = false;

  Field(const char* name_, Member member_, const char* unit_, const char* description_, const char* source_)
      : name(name_), member(member_), unit(unit_), description(description_), source(source_) {}

  Field between(double low, double high) && {
    minimum = low;
    maximum = high;
    return std::move(*this);
  }
  Field one_of(std::vector<std::string> words) && {
    choices = std::move(words);
    return std::move(*this);
  }
  Field powers_of_two() && {
    power_of_two = true;
    return std::move(*this);
  }
};

namespace detail {

template <class T>
ParameterValue to_value(const T& member) {
  if constexpr (std::is_same_v<T, std::uint32_t>) {
    return std::uint64_t{member};
  } else {
    return member;
  }
}

template <class T>
T from_value(const ParameterValue& value) {
  if constexpr (std::is_same_v<T, std::uint32_t>) {
    return static_cast<std::uint32_t>(std::get<std::uint64_t>(value));
  } else {
    return std::get<T>(value);
  }
}

}  // namespace detail

// Returns the descriptions of all parameters of a struct, with the values of a default-constructed struct as defaults.
template <class Struct>
std::vector<ParameterInfo> describe_parameters() {
  std::vector<ParameterInfo> infos;
  const Struct defaults{};
  std::apply(
      [&](const auto&... field) {
        (infos.push_back({field.name, field.unit, field.description, field.source,
                          detail::to_value(defaults.*field.member), field.minimum, field.maximum, field.choices,
                          field.power_of_two}),
         ...);
      },
      Struct::fields());
  return infos;
}

// Returns a struct with the given values and defaults for the rest. The caller must have checked the values against
// describe_parameters().
template <class Struct>
Struct make_parameters(const ParameterValues& values) {
  Struct result{};
  const auto assign = [&](const auto& field) {
    for (const auto& [name, value] : values) {
      if (name != field.name) continue;
      using T = std::remove_reference_t<decltype(result.*field.member)>;
      result.*field.member = detail::from_value<T>(value);
    }
  };
  std::apply([&](const auto&... field) { (assign(field), ...); }, Struct::fields());
  return result;
}

// Plug-ins without parameters use NoParameters.
struct NoParameters {
  static auto fields() { return std::tuple{}; }
};

}  // namespace allocbench
