// `allocbench list` and `allocbench describe NAME` print the descriptions of the workers, for people and as JSON.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/front/cli/command_line.hpp"
#include "harness/front/common/errors.hpp"
#include "harness/front/common/nearest_name.hpp"
#include "harness/front/common/output.hpp"
#include "harness/front/common/terminal.hpp"
#include "harness/front/common/units.hpp"
#include "harness/front/workers/worker_program.hpp"
#include "protocol/description_json.hpp"

namespace allocbench::front {
namespace {

using Json = nlohmann::ordered_json;

// An entry of the catalogue, with the back ends that have this entry.
template <class Entry>
struct Offered {
  Entry entry;
  std::vector<std::string> backends;
};

struct Offer {
  std::vector<std::string> backends;  // back ends whose workers are built
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
    warn_about(catalogue.broken_plugins);
    offer.backends.push_back(catalogue.backend);
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
std::string summary(const protocol::AllocatorDescription& allocator) { return allocator.summary; }
template <class Entry>
std::string summary(const Entry& entry) {
  return entry.summary + (entry.paper.empty() ? "" : fmt::format(" ({})", entry.paper));
}

// Returns the back ends of an entry that not every built worker has, such as " (cuda only)". Returns an empty text for
// any other entry.
template <class Entry>
std::string only_there(const Offered<Entry>& offered, const Offer& offer) {
  if (offered.backends.size() == offer.backends.size()) return "";
  return fmt::format(" ({} only)", fmt::join(offered.backends, ","));
}

// Prints a name, and a text in a second column.
void print_entry(const std::string& name, const std::string& text, std::size_t width) {
  if (name.size() > width) show("{}\n", name);
  const std::string shown = name.size() > width ? "" : name;
  show("{}", folded(fmt::format("{:{}}  {}", shown, width, text), columns_of_stdout(), width + 2));
}

constexpr std::size_t widest_name = 30;

template <class Entry>
void print_list(std::string_view title, const std::vector<Offered<Entry>>& list, const Offer& offer) {
  std::size_t width = 0;
  for (const auto& each : list) width = std::max(width, each.entry.name.size());
  show("{}\n", title);
  for (const auto& each : list) {
    print_entry("  " + each.entry.name, summary(each.entry) + only_there(each, offer),
                std::min(width, widest_name) + 2);
  }
}

// Returns the first paper, without its sections. For "Vinkler & Havran 2015, sec. 4.2; Winter et al. 2021" it is
// "Vinkler & Havran 2015".
std::string paper_of(const protocol::AllocatorDescription& allocator) {
  return allocator.paper.substr(0, std::min(allocator.paper.find(", sec"), allocator.paper.find(';')));
}

// Returns the form in words for users.
std::string shown_form(const protocol::AllocatorDescription& allocator) {
  return allocator.form == "own" ? "own design" : allocator.form;
}

// Prints the allocators by paper. The papers have the order of their first allocators.
void print_families(const Offer& offer) {
  std::vector<std::pair<std::string, std::vector<const Offered<protocol::AllocatorDescription>*>>> families;
  std::size_t width = 0;
  for (const auto& each : offer.allocators) {
    const std::string name = paper_of(each.entry);
    auto family = std::find_if(families.begin(), families.end(), [&](auto& other) { return other.first == name; });
    if (family == families.end()) family = families.insert(family, {name, {}});
    family->second.push_back(&each);
    width = std::max(width, each.entry.name.size());
  }
  show("allocators\n");
  for (const auto& [paper, members] : families) {
    show("\n  {}\n", paper);
    for (const auto* each : members) {
      const std::string form = each->entry.form.empty() ? "" : shown_form(each->entry) + ": ";
      print_entry("  " + each->entry.name, form + summary(each->entry) + only_there(*each, offer),
                  std::min(width, widest_name) + 2);
    }
  }
}

// Prints a text with a margin. Lines after the first are indented by `indent` more.
void print_folded(const std::string& margin, const std::string& text, std::size_t indent) {
  show("{}", folded(margin + text, columns_of_stdout(), margin.size() + indent));
}

template <class Entry>
void print_names(const std::vector<Offered<Entry>>& list) {
  for (const auto& each : list) show("{}\n", each.entry.name);
}

void print_parameters(const std::vector<ParameterInfo>& parameters) {
  show("{}\n", parameters.empty() ? "no parameters" : "parameters");
  for (const ParameterInfo& parameter : parameters) {
    const auto* integer = std::get_if<std::uint64_t>(&parameter.default_value);
    const std::string value =
        integer != nullptr && parameter.unit == "B" ? format_bytes(*integer) : to_text(parameter.default_value);
    show("  {} = {}\n", parameter.name, parameter.unit == "B" ? value : with_unit(value, parameter.unit));
    print_folded("      ", parameter.description, 0);
    print_folded("      ", fmt::format("allowed: {}", allowed_values(parameter)), 2);
    if (!parameter.source.empty()) print_folded("      ", fmt::format("source: {}", parameter.source), 2);
  }
}

const char* place_of_blocks(const protocol::AllocatorDescription& allocator) {
  if (allocator.pool == "arena") return "the pool";
  if (allocator.pool == "own") return "the allocator's own memory";
  return allocator.pool_is_device_heap() ? "the device heap" : "the pool and the device heap";
}

void print(const protocol::AllocatorDescription& allocator) {
  show("{} ({}), allocator\n", allocator.name, allocator.display_name);
  print_folded("", allocator.summary, 0);
  show("paper: {}\nform: {}{}\n", allocator.paper, shown_form(allocator),
       allocator.based_on.empty() ? "" : " of " + allocator.based_on);
  print_folded("",
               fmt::format("frees: {}; alignment: {} B; blocks: in {}; initial state restored by {}{}{}",
                           allocator.frees, allocator.alignment, place_of_blocks(allocator),
                           allocator.fresh_by_process() ? "a new process" : "a reset",
                           allocator.keeps_device_heap ? ", one for each cell" : "",
                           allocator.test_only ? "; deliberately broken, tests the harness" : ""),
               0);
  if (!allocator.restrictions.empty()) {
    print_folded("", fmt::format("restrictions: {}", fmt::join(allocator.restrictions, "; ")), 0);
  }
  print_parameters(allocator.parameters);
}

void print(const protocol::WorkloadDescription& workload) {
  show("{} ({}), workload\n", workload.name, workload.display_name);
  print_folded("", workload.summary, 0);
  show("paper: {}\nphases: {}{}\n", workload.paper, fmt::join(workload.phases, ", "),
       workload.null_expected
           ? "; null pointers are counted. They fail a cell only if most requests with room get null, "
             "or if no request gets a block"
           : "");
  if (!workload.untimed_kernels.empty()) {
    show("untimed kernels (only their registers are reported): {}\n", fmt::join(workload.untimed_kernels, ", "));
  }
  print_parameters(workload.parameters);
}

void print(const protocol::MetricDescription& metric) {
  show("{}, metric\n{}\nsource: {}\n", metric.name, summary(metric), metric.source);
}

// Prints the entry if the list has the name. Returns whether it does.
template <class Entry>
bool describe_in(const std::vector<Offered<Entry>>& list, const DescribeOptions& options) {
  for (const auto& each : list) {
    if (each.entry.name != options.name) continue;
    if (options.json) {
      show("{}\n", to_json(each).dump(2));
    } else {
      print(each.entry);
      show("back ends: {}\n", fmt::join(each.backends, ", "));
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
    show("{}\n", json.dump(2));
    return exit_all_ok;
  }
  if (options.names) {
    if (wanted("allocators")) print_names(offer.allocators);
    if (wanted("workloads")) print_names(offer.workloads);
    if (wanted("metrics")) print_names(offer.metrics);
    return exit_all_ok;
  }
  const char* between = options.what.empty() ? "\n" : "";
  if (wanted("allocators")) print_families(offer);
  if (wanted("workloads")) print_list(fmt::format("{}workloads", between), offer.workloads, offer);
  if (wanted("metrics")) print_list(fmt::format("{}metrics", between), offer.metrics, offer);
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
