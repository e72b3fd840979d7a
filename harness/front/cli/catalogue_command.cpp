// `allocbench list` and `allocbench describe NAME`: what the workers say about themselves, for people and as JSON.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/front/cli/command_line.hpp"
#include "harness/front/common/errors.hpp"
#include "harness/front/common/nearest_name.hpp"
#include "harness/front/common/units.hpp"
#include "harness/front/run/worker_program.hpp"
#include "harness/protocol/description_json.hpp"

namespace allocbench::front {
namespace {

using Json = nlohmann::ordered_json;

// An entry with the back ends that have it.
template <class Entry>
struct Offered {
  Entry entry;
  std::vector<std::string> backends;
};

struct Offer {
  std::vector<Offered<protocol::AllocatorDescription>> allocators;
  std::vector<Offered<protocol::WorkloadDescription>> workloads;
  std::vector<Offered<protocol::MetricDescription>> metrics;
};

template <class Entry>
void add_entries(std::vector<Offered<Entry>>& offered, const std::vector<Entry>& entries, const std::string& backend) {
  for (const Entry& entry : entries) {
    const auto same =
        std::find_if(offered.begin(), offered.end(), [&](const auto& each) { return each.entry.name == entry.name; });
    if (same == offered.end()) {
      offered.push_back({entry, {backend}});
    } else {
      same->backends.push_back(backend);
    }
  }
}

Offer offer_of_workers(const std::string& workers) {
  Offer offer;
  for (const WorkerProgram& program : WorkerFolder(workers).all()) {
    const Catalogue catalogue = describe_worker(program);
    add_entries(offer.allocators, catalogue.allocators, catalogue.backend);
    add_entries(offer.workloads, catalogue.workloads, catalogue.backend);
    add_entries(offer.metrics, catalogue.metrics, catalogue.backend);
  }
  return offer;
}

template <class Entry>
Json to_json(const Offered<Entry>& offered) {
  Json json = protocol::to_json(offered.entry);
  json["backends"] = offered.backends;
  return json;
}

template <class Entry>
Json list_json(const std::vector<Offered<Entry>>& list) {
  Json json = Json::array();
  for (const auto& each : list) json.push_back(to_json(each));
  return json;
}

std::string summary(const protocol::MetricDescription& metric) {
  const std::string unit = metric.unit.empty() ? "" : fmt::format(" [{}]", metric.unit);
  const std::string better = metric.better == "none" ? "" : fmt::format(" ({} is better)", metric.better);
  return metric.description + unit + better;
}
std::string summary(const protocol::AllocatorDescription& allocator) {
  return fmt::format("{:9}  {} ({})", allocator.form, allocator.summary, allocator.paper);
}
template <class Entry>
std::string summary(const Entry& entry) {
  return entry.summary + (entry.paper.empty() ? "" : fmt::format(" ({})", entry.paper));
}

template <class Entry>
void print_list(std::string_view title, const std::vector<Offered<Entry>>& list) {
  std::size_t width = 0;
  for (const auto& each : list) width = std::max(width, each.entry.name.size());
  fmt::print("{}\n", title);
  for (const auto& each : list) {
    fmt::print("  {:{}}  {:8}  {}\n", each.entry.name, width, fmt::format("{}", fmt::join(each.backends, ",")),
               summary(each.entry));
  }
}

void print_parameters(const std::vector<ParameterInfo>& parameters) {
  fmt::print("{}\n", parameters.empty() ? "no parameters" : "parameters");
  for (const ParameterInfo& parameter : parameters) {
    const auto* integer = std::get_if<std::uint64_t>(&parameter.default_value);
    const std::string value =
        integer != nullptr && parameter.unit == "B" ? format_bytes(*integer) : to_text(parameter.default_value);
    const std::string unit = parameter.unit.empty() || parameter.unit == "B" ? "" : " " + parameter.unit;
    fmt::print("  {} = {}{}\n      {}\n      allowed: {}\n", parameter.name, value, unit, parameter.description,
               allowed_values(parameter));
    if (!parameter.source.empty()) fmt::print("      source: {}\n", parameter.source);
  }
}

const char* place_of_blocks(const protocol::AllocatorDescription& allocator) {
  if (allocator.pool == "arena") return "the pool";
  if (allocator.pool == "own") return "memory that the allocator takes for itself";
  return allocator.pool_is_device_heap() ? "the device heap" : "the pool and the device heap";
}

void print(const protocol::AllocatorDescription& allocator) {
  fmt::print(
      "{} ({}), allocator\n{}\npaper: {}\nform: {}{}\nfrees {}, alignment {} B, blocks live in {}, fresh by {}{}\n",
      allocator.name, allocator.display_name, allocator.summary, allocator.paper, allocator.form,
      allocator.based_on.empty() ? "" : " of " + allocator.based_on, allocator.frees, allocator.alignment,
      place_of_blocks(allocator), allocator.fresh_by_process() ? "a new process" : "reset",
      allocator.test_only ? "; deliberately broken, tests the harness" : "");
  print_parameters(allocator.parameters);
}

void print(const protocol::WorkloadDescription& workload) {
  fmt::print("{} ({}), workload\n{}\npaper: {}\nphases: {}{}\n", workload.name, workload.display_name, workload.summary,
             workload.paper, fmt::join(workload.phases, ", "),
             workload.null_expected ? "; null pointers are counted and do not fail a cell" : "");
  print_parameters(workload.parameters);
}

void print(const protocol::MetricDescription& metric) {
  fmt::print("{}, metric\n{}\nsource: {}\n", metric.name, summary(metric), metric.source);
}

// True when the list has the name; prints it then.
template <class Entry>
bool describe_in(const std::vector<Offered<Entry>>& list, const DescribeOptions& options) {
  for (const auto& each : list) {
    if (each.entry.name != options.name) continue;
    if (options.json) {
      fmt::print("{}\n", to_json(each).dump(2));
    } else {
      print(each.entry);
      fmt::print("back ends: {}\n", fmt::join(each.backends, ", "));
    }
    return true;
  }
  return false;
}

}  // namespace

int list_command(const ListOptions& options) {
  Offer offer = offer_of_workers(options.workers);
  if (!options.all) std::erase_if(offer.allocators, [](const auto& each) { return each.entry.test_only; });
  const auto wanted = [&](std::string_view what) { return options.what.empty() || options.what == what; };
  if (options.json) {
    Json json = Json::object();
    if (wanted("allocators")) json["allocators"] = list_json(offer.allocators);
    if (wanted("workloads")) json["workloads"] = list_json(offer.workloads);
    if (wanted("metrics")) json["metrics"] = list_json(offer.metrics);
    fmt::print("{}\n", json.dump(2));
    return exit_all_ok;
  }
  if (wanted("allocators")) print_list("allocators", offer.allocators);
  if (wanted("workloads")) print_list("workloads", offer.workloads);
  if (wanted("metrics")) print_list("metrics", offer.metrics);
  return exit_all_ok;
}

int describe_command(const DescribeOptions& options) {
  const Offer offer = offer_of_workers(options.workers);
  if (describe_in(offer.allocators, options) || describe_in(offer.workloads, options) ||
      describe_in(offer.metrics, options)) {
    return exit_all_ok;
  }
  std::vector<std::string> names;
  for (const auto& each : offer.allocators) names.push_back(each.entry.name);
  for (const auto& each : offer.workloads) names.push_back(each.entry.name);
  for (const auto& each : offer.metrics) names.push_back(each.entry.name);
  const std::string nearest = nearest_name(options.name, names);
  throw UsageError(fmt::format("There is no allocator, workload or metric \"{}\"{}. `allocbench list` shows all.",
                               options.name, nearest.empty() ? "" : fmt::format(" (did you mean \"{}\"?)", nearest)));
}

}  // namespace allocbench::front
