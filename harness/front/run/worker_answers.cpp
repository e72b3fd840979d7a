#include "harness/front/run/worker_answers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace allocbench::front {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 9> final_events = {
    "ready", "environment", "allocator_ready", "opened", "verified", "sample", "closed", "failed", "protocol_error"};

bool has_text(const Json& json, const char* key) { return json.contains(key) && json[key].is_string(); }
bool has_count(const Json& json, const char* key) { return json.contains(key) && json[key].is_number_unsigned(); }
// Infinities and NaN are null in JSON and no number here.
bool has_amount(const Json& json, const char* key) {
  return json.contains(key) && json[key].is_number() && json[key].get<double>() >= 0;
}

std::string about_sample(const Json& event) {
  if (!event.contains("phases") || !event["phases"].is_array() || event["phases"].empty()) return "it has no phases";
  for (const Json& phase : event["phases"]) {
    if (!phase.is_object() || !has_text(phase, "name") || !has_amount(phase, "seconds") ||
        !has_count(phase, "operations")) {
      return fmt::format("{} is no phase", phase.dump());
    }
  }
  if (event.contains("counters")) {
    const Json& counters = event["counters"];
    const bool numbers = counters.is_object() && std::all_of(counters.begin(), counters.end(),
                                                             [](const Json& value) { return value.is_number(); });
    if (!numbers) return "its counters are no numbers";
  }
  const bool known_flag =
      !event.contains("throttled") || event["throttled"].is_boolean() || event["throttled"].is_null();
  return known_flag ? "" : "throttled is no truth value";
}

std::string about_opened(const Json& event) {
  if (!event.contains("kernels")) return "";
  if (!event["kernels"].is_array()) return "kernels is no list";
  for (const Json& kernel : event["kernels"]) {
    if (!kernel.is_object() || !has_text(kernel, "phase") || !has_count(kernel, "registers")) {
      return fmt::format("{} is no kernel", kernel.dump());
    }
  }
  return "";
}

// {"values": {metric: [number ...]}, "histograms": {name: [[bin, count] ...]}}
std::string about_counted(const Json& counted) {
  if (!counted.is_object()) return "counted is no object";
  const Json values_by_metric = counted.value("values", Json::object());
  for (const auto& [metric, values] : values_by_metric.items()) {
    const bool numbers = values.is_array() && !values.empty() &&
                         std::all_of(values.begin(), values.end(), [](auto& each) { return each.is_number(); });
    if (!numbers) return fmt::format("counted values of {} are no list of numbers", metric);
  }
  const Json histograms = counted.value("histograms", Json::object());
  for (const auto& [name, bins] : histograms.items()) {
    const bool pairs =
        bins.is_array() && std::all_of(bins.begin(), bins.end(), [](auto& bin) {
          return bin.is_array() && bin.size() == 2 && bin[0].is_number_unsigned() && bin[1].is_number_unsigned();
        });
    if (!pairs) return fmt::format("the histogram {} is no list of bins", name);
  }
  return "";
}

std::string about_verified(const Json& event) {
  if (event.contains("checks") && !event["checks"].is_object()) return "checks is no object";
  return event.contains("counted") ? about_counted(event["counted"]) : "";
}

}  // namespace

std::string event_kind(const Json& event) {
  return event.is_object() && has_text(event, "event") ? event["event"].get<std::string>() : "";
}

bool is_final_event(std::string_view kind) {
  return std::find(final_events.begin(), final_events.end(), kind) != final_events.end();
}

std::string complaint_about(const Json& event) {
  const std::string kind = event_kind(event);
  if (event.contains("cell") && !event["cell"].is_string()) return "its cell is no text";
  if (kind == "sample") return about_sample(event);
  if (kind == "opened") return about_opened(event);
  if (kind == "ready" && (!has_count(event, "protocol") || !event.contains("device") || !event["device"].is_object())) {
    return "protocol or device is missing";
  }
  if (kind == "allocator_ready" &&
      (!has_count(event, "pool_bytes") || !has_count(event, "metadata_bytes") || !has_amount(event, "init_seconds"))) {
    return "pool_bytes, metadata_bytes or init_seconds is missing";
  }
  if (kind == "verified") return about_verified(event);
  if (kind == "failed" && (!has_text(event, "status") || !has_text(event, "reason") ||
                           (event.contains("fatal") && !event["fatal"].is_boolean()))) {
    return "status or reason is missing";
  }
  if ((kind == "environment" || kind == "protocol_error") && !has_text(event, "reason")) return "reason is missing";
  return "";
}

}  // namespace allocbench::front
