#include "protocol/event_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace allocbench::protocol {
namespace {

// The names are in the order of Event's alternatives.
constexpr std::array<std::string_view, 12> names = {"ready",    "environment",    "allocator_ready", "opened",
                                                    "verified", "sample",         "closed",          "profile",
                                                    "failed",   "protocol_error", "loaded",          "stage"};
static_assert(names.size() == std::variant_size_v<Event>);

Json phases_to_json(const std::vector<Phase>& phases) {
  Json list = Json::array();
  for (const Phase& phase : phases) {
    Json& json =
        list.emplace_back(Json{{"name", phase.name}, {"seconds", phase.seconds}, {"operations", phase.operations}});
    if (!phase.not_held.empty()) json["not_held"] = phase.not_held;
  }
  return list;
}

// Writes the members that follow "event".
struct WorkerEventWriter {
  Json operator()(const Ready& event) const {
    return {{"protocol", event.protocol}, {"backend", event.backend}, {"device", to_json(event.device)}};
  }
  Json operator()(const NoEnvironment& event) const { return {{"reason", event.reason}}; }
  Json operator()(const AllocatorReady& event) const {
    return {{"pool_bytes", event.pool_bytes},
            {"metadata_bytes", event.metadata_bytes},
            {"init_seconds", event.init_seconds}};
  }
  Json operator()(const Opened& event) const {
    Json kernels = Json::array();
    for (const Kernel& kernel : event.kernels) {
      kernels.push_back(
          {{"phase", kernel.phase}, {"registers", kernel.registers}, {"local_bytes", kernel.local_bytes}});
    }
    return {{"cell", event.cell}, {"kernels", kernels}, {"uses_device_heap", event.uses_device_heap}};
  }
  Json operator()(const Verified& event) const {
    Json json{{"cell", event.cell}, {"checks", to_json(event.checks)}, {"counted", to_json(event.counted)}};
    if (event.stale) json["stale"] = true;
    return json;
  }
  Json operator()(const Sample& event) const {
    Json counters = Json::object();
    for (const auto& [name, value] : event.counters) counters[name] = value;
    Json json{{"cell", event.cell},
              {"phases", phases_to_json(event.phases)},
              {"counters", counters},
              {"sm_clock_mhz", or_null(event.sm_clock_mhz)},
              {"temperature_c", or_null(event.temperature_c)},
              {"throttled", or_null(event.throttled)},
              {"wall_seconds", or_null(event.wall_seconds)}};
    if (event.loop) json["loop"] = {{"iterations", event.loop->iterations}, {"mean_seconds", event.loop->mean_seconds}};
    return json;
  }
  Json operator()(const Closed& event) const { return {{"cell", event.cell}}; }
  Json operator()(const Profile& event) const {
    Json seconds = Json::object();
    for (const auto& [part, value] : event.seconds) seconds[part] = value;
    return {{"seconds", seconds}, {"beside", event.beside}};
  }
  Json operator()(const Failed& event) const {
    Json json = Json::object();
    if (event.cell) json["cell"] = *event.cell;
    json["status"] = word(event.status);
    json["reason"] = event.reason;
    json["fatal"] = event.fatal;
    return json;
  }
  Json operator()(const ProtocolError& event) const { return {{"reason", event.reason}}; }
  Json operator()(const Loaded&) const { return Json::object(); }
  Json operator()(const Stage& event) const { return {{"cell", event.cell}, {"stage", event.stage}}; }
};

Opened opened_from_json(const Json& json) {
  Opened event{text_member(json, "cell"), {}, truth_member_or(json, "uses_device_heap", true)};
  if (optional_member(json, "kernels") == nullptr) return event;
  for (const Json& kernel : list_member(json, "kernels")) {
    event.kernels.push_back(
        {text_member(kernel, "phase"), count_member(kernel, "registers"), count_member_or(kernel, "local_bytes", 0)});
  }
  return event;
}

Verified verified_from_json(const Json& json) {
  Verified event{text_member(json, "cell"), {}, {}, truth_member_or(json, "stale", false)};
  if (optional_member(json, "checks") != nullptr) event.checks = checks_from_json(object_member(json, "checks"));
  if (optional_member(json, "counted") != nullptr) event.counted = counted_from_json(object_member(json, "counted"));
  return event;
}

Profile profile_from_json(const Json& json) {
  const Json& seconds = object_member(json, "seconds");
  Profile profile;
  for (const auto& [part, value] : seconds.items()) profile.seconds.emplace_back(part, seconds_member(seconds, part));
  profile.beside = optional_seconds(json, "beside").value_or(0);
  return profile;
}

Failed failed_from_json(const Json& json) {
  const std::string text = text_member(json, "status");
  const auto status = status_of(text);
  if (!status || *status == Status::ok) throw Malformed(fmt::format("\"{}\" is not the status of a failure", text));
  return {optional_text(json, "cell"), *status, text_member(json, "reason"), truth_member_or(json, "fatal", false)};
}

}  // namespace

bool Counted::has_counts() const {
  if (values.empty()) return !histograms.empty();
  return std::any_of(values.begin(), values.end(), [](const Values& each) {
    return std::any_of(each.per_pass.begin(), each.per_pass.end(), [](double value) { return value != 0; });
  });
}

std::string_view name_of(const Event& event) { return names[event.index()]; }

Json to_json(const Event& event) {
  Json json{{"event", name_of(event)}};
  json.update(std::visit(WorkerEventWriter{}, event));
  return json;
}

Json to_json(const Device& device) {
  return {{"name", device.name},
          {"compute_capability", or_null(device.compute_capability)},
          {"driver", or_null(device.driver)},
          {"driver_version", or_null(device.driver_version)},
          {"toolkit", or_null(device.toolkit)},
          {"uuid", or_null(device.uuid)},
          {"sm_count", or_null(device.sm_count)},
          {"memory_bytes", or_null(device.memory_bytes)},
          {"free_memory_bytes", or_null(device.free_memory_bytes)},
          {"l2_bytes", or_null(device.l2_bytes)},
          {"sm_clock_mhz", or_null(device.sm_clock_mhz)},
          {"sm_clock_max_mhz", or_null(device.sm_clock_max_mhz)},
          {"device_heap_bytes", or_null(device.device_heap_bytes)},
          {"sm_clock_limit_mhz", or_null(device.sm_clock_limit_mhz)},
          {"throttle_reasons", or_null(device.throttle_reasons)},
          {"other_processes", or_null(device.other_processes)},
          {"mig", or_null(device.mig)},
          {"ecc", or_null(device.ecc)}};
}

Json to_json(const Checks& checks) {
  Json json = Json::object();
  if (checks.null_returns) json["null_returns"] = *checks.null_returns;
  if (checks.blocks) json["blocks"] = *checks.blocks;
  if (checks.content) json["content"] = *checks.content;
  if (checks.leak_rounds) json["leak_rounds"] = *checks.leak_rounds;
  if (checks.leak) json["leak"] = *checks.leak;
  if (checks.spurious_nulls) json["spurious_nulls"] = *checks.spurious_nulls;
  if (checks.reset) json["reset"] = *checks.reset;
  if (checks.trace) json["trace"] = *checks.trace;
  return json;
}

Json to_json(const Counted& counted) {
  Json json{{"values", Json::object()}, {"histograms", Json::object()}};
  for (const Counted::Values& each : counted.values) json["values"][each.metric] = each.per_pass;
  for (const Counted::Histogram& each : counted.histograms) {
    Json& bins = json["histograms"][each.name] = Json::array();
    for (const Counted::Bin& bin : each.bins) bins.push_back({bin.first, bin.count});
  }
  return json;
}

std::optional<Event> event_from_json(const Json& json) {
  const std::string name = text_member(json, "event");
  if (name == "ready") {
    return Ready{count_member(json, "protocol"), text_member_or(json, "backend", ""),
                 device_from_json(object_member(json, "device"))};
  }
  if (name == "environment") return NoEnvironment{text_member(json, "reason")};
  if (name == "allocator_ready") {
    return AllocatorReady{count_member(json, "pool_bytes"), count_member(json, "metadata_bytes"),
                          seconds_member(json, "init_seconds")};
  }
  if (name == "opened") return opened_from_json(json);
  if (name == "verified") return verified_from_json(json);
  if (name == "sample") return sample_from_json(json);
  if (name == "closed") return Closed{text_member(json, "cell")};
  if (name == "profile") return profile_from_json(json);
  if (name == "failed") return failed_from_json(json);
  if (name == "protocol_error") return ProtocolError{text_member(json, "reason")};
  if (name == "loaded") return Loaded{};
  if (name == "stage") return Stage{text_member(json, "cell"), text_member(json, "stage")};
  return std::nullopt;
}

Device device_from_json(const Json& json) {
  return {.name = text_member_or(json, "name", ""),
          .compute_capability = optional_text(json, "compute_capability"),
          .driver = optional_text(json, "driver"),
          .driver_version = optional_text(json, "driver_version"),
          .toolkit = optional_text(json, "toolkit"),
          .uuid = optional_text(json, "uuid"),
          .sm_count = optional_count(json, "sm_count"),
          .memory_bytes = optional_count(json, "memory_bytes"),
          .free_memory_bytes = optional_count(json, "free_memory_bytes"),
          .l2_bytes = optional_count(json, "l2_bytes"),
          .sm_clock_mhz = optional_count(json, "sm_clock_mhz"),
          .sm_clock_max_mhz = optional_count(json, "sm_clock_max_mhz"),
          .device_heap_bytes = optional_count(json, "device_heap_bytes"),
          .sm_clock_limit_mhz = optional_count(json, "sm_clock_limit_mhz"),
          .throttle_reasons = optional_texts(json, "throttle_reasons"),
          .other_processes = optional_count(json, "other_processes"),
          .mig = optional_truth(json, "mig"),
          .ecc = optional_truth(json, "ecc")};
}

Checks checks_from_json(const Json& json) {
  return {optional_count(json, "null_returns"), optional_count(json, "blocks"), optional_text(json, "content"),
          optional_count(json, "leak_rounds"),  optional_text(json, "leak"),    optional_count(json, "spurious_nulls"),
          optional_text(json, "reset"),         optional_text(json, "trace")};
}

Counted counted_from_json(const Json& json) {
  Counted counted;
  if (optional_member(json, "values") != nullptr) {
    for (const auto& [metric, list] : object_member(json, "values").items()) {
      const bool numbers = list.is_array() && !list.empty() &&
                           std::all_of(list.begin(), list.end(), [](auto& each) { return each.is_number(); });
      if (!numbers) throw Malformed(fmt::format("the counted values of {} must be a list of numbers", metric));
      counted.values.push_back({metric, list.get<std::vector<double>>()});
    }
  }
  if (optional_member(json, "histograms") != nullptr) {
    for (const auto& [name, bins] : object_member(json, "histograms").items()) {
      Counted::Histogram& histogram = counted.histograms.emplace_back();
      histogram.name = name;
      if (!bins.is_array()) throw Malformed(fmt::format("the histogram {} must be a list of bins", name));
      for (const Json& bin : bins) {
        const bool pair =
            bin.is_array() && bin.size() == 2 && bin[0].is_number_unsigned() && bin[1].is_number_unsigned();
        if (!pair) throw Malformed(fmt::format("each bin of the histogram {} must be [first value, count]", name));
        histogram.bins.push_back({bin[0].get<std::uint64_t>(), bin[1].get<std::uint64_t>()});
      }
    }
  }
  return counted;
}

Sample sample_from_json(const Json& json) {
  Sample sample;
  sample.cell = text_member(json, "cell");
  for (const Json& phase : list_member(json, "phases")) {
    if (!phase.is_object()) throw Malformed("each of \"phases\" must be an object");
    sample.phases.push_back({text_member(phase, "name"), seconds_member(phase, "seconds"),
                             count_member_or(phase, "operations", 0), text_member_or(phase, "not_held", "")});
  }
  if (sample.phases.empty()) throw Malformed("\"phases\" must not be empty");
  if (optional_member(json, "counters") != nullptr) {
    const Json& counters = object_member(json, "counters");
    for (const auto& [name, value] : counters.items())
      sample.counters.emplace_back(name, number_member(counters, name));
  }
  sample.sm_clock_mhz = optional_count(json, "sm_clock_mhz");
  sample.temperature_c = optional_count(json, "temperature_c");
  sample.throttled = optional_truth(json, "throttled");
  sample.wall_seconds = optional_seconds(json, "wall_seconds");
  if (optional_member(json, "loop") != nullptr) {
    const Json& loop = object_member(json, "loop");
    sample.loop = Loop{count_member(loop, "iterations"), seconds_member(loop, "mean_seconds")};
  }
  return sample;
}

}  // namespace allocbench::protocol
