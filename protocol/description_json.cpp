#include "protocol/description_json.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <initializer_list>

#include "protocol/parameter_json.hpp"
#include "protocol/version.hpp"

namespace allocbench::protocol {
namespace {

std::string word_member(const Json& json, const char* name, std::initializer_list<std::string_view> words) {
  std::string text = text_member(json, name);
  if (std::find(words.begin(), words.end(), text) == words.end()) {
    throw Malformed(fmt::format("\"{}\" must be one of {}; found \"{}\"", name, fmt::join(words, ", "), text));
  }
  return text;
}

Json parameters_to_json(const std::vector<ParameterInfo>& infos) {
  Json list = Json::array();
  for (const ParameterInfo& info : infos) list.push_back(to_json(info));
  return list;
}

std::vector<ParameterInfo> parameters_from_json(const Json& list) {
  std::vector<ParameterInfo> infos;
  for (const Json& json : list) infos.push_back(parameter_from_json(json));
  return infos;
}

AllocatorDescription allocator_from_json(const Json& json) {
  AllocatorDescription allocator;
  allocator.name = text_member(json, "name");
  allocator.display_name = text_member_or(json, "display_name", allocator.name);
  allocator.paper = text_member_or(json, "paper", "");
  allocator.summary = text_member_or(json, "summary", "");
  allocator.form = text_member_or(json, "form", "published");
  allocator.based_on = text_member_or(json, "based_on", "");
  allocator.plugin = text_member_or(json, "plugin", "");
  allocator.frees = word_member(json, "frees", {"never", "individually", "in_bulk"});
  allocator.alignment = count_member(json, "alignment");
  allocator.pool = word_member(json, "pool", {"arena", "device_heap", "arena_and_device_heap", "own"});
  allocator.fresh = word_member(json, "fresh", {"reset", "process"});
  allocator.keeps_device_heap = truth_member_or(json, "keeps_device_heap", false);
  allocator.test_only = truth_member_or(json, "test_only", false);
  allocator.restrictions = optional_texts(json, "restrictions").value_or(std::vector<std::string>{});
  allocator.parameters = parameters_from_json(list_member(json, "parameters"));
  return allocator;
}

WorkloadDescription workload_from_json(const Json& json) {
  WorkloadDescription workload;
  workload.name = text_member(json, "name");
  workload.display_name = text_member_or(json, "display_name", workload.name);
  workload.paper = text_member_or(json, "paper", "");
  workload.summary = text_member_or(json, "summary", "");
  for (const Json& phase : list_member(json, "phases")) {
    if (!phase.is_string()) throw Malformed("\"phases\" must be strings");
    workload.phases.push_back(phase);
  }
  workload.untimed_kernels = optional_texts(json, "untimed_kernels").value_or(std::vector<std::string>{});
  workload.null_expected = truth_member_or(json, "null_expected", false);
  workload.parameters = parameters_from_json(list_member(json, "parameters"));
  return workload;
}

}  // namespace

Json to_json(const AllocatorDescription& allocator) {
  return {{"name", allocator.name},
          {"display_name", allocator.display_name},
          {"paper", allocator.paper},
          {"summary", allocator.summary},
          {"form", allocator.form},
          {"based_on", allocator.based_on},
          {"plugin", allocator.plugin},
          {"frees", allocator.frees},
          {"alignment", allocator.alignment},
          {"pool", allocator.pool},
          {"fresh", allocator.fresh},
          {"keeps_device_heap", allocator.keeps_device_heap},
          {"test_only", allocator.test_only},
          {"restrictions", allocator.restrictions},
          {"parameters", parameters_to_json(allocator.parameters)}};
}

Json to_json(const WorkloadDescription& workload) {
  return {{"name", workload.name},
          {"display_name", workload.display_name},
          {"paper", workload.paper},
          {"summary", workload.summary},
          {"phases", workload.phases},
          {"untimed_kernels", workload.untimed_kernels},
          {"null_expected", workload.null_expected},
          {"parameters", parameters_to_json(workload.parameters)}};
}

Json to_json(const MetricDescription& metric) {
  return {{"name", metric.name},
          {"unit", metric.unit},
          {"better", metric.better},
          {"description", metric.description},
          {"source", metric.source}};
}

Json to_json(const PluginDescription& plugin) {
  return {{"plugin", plugin.plugin}, {"file", plugin.file}, {"measured_revision", plugin.measured_revision}};
}

Json to_json(const std::vector<BrokenPlugin>& plugins) {
  Json list = Json::array();
  for (const BrokenPlugin& each : plugins) list.push_back({{"plugin", each.plugin}, {"reason", each.reason}});
  return list;
}

Json to_json(const WorkerDescription& worker) {
  Json json{{"protocol", version},         {"backend", worker.backend},
            {"revision", worker.revision}, {"measured_revision", worker.measured_revision},
            {"compiler", worker.compiler}, {"allocators", Json::array()},
            {"workloads", Json::array()},  {"metrics", Json::array()}};
  for (const AllocatorDescription& allocator : worker.allocators) json["allocators"].push_back(to_json(allocator));
  for (const WorkloadDescription& workload : worker.workloads) json["workloads"].push_back(to_json(workload));
  for (const MetricDescription& metric : worker.metrics) json["metrics"].push_back(to_json(metric));
  json["plugins"] = Json::array();
  for (const PluginDescription& plugin : worker.plugins) json["plugins"].push_back(to_json(plugin));
  json["broken_plugins"] = to_json(worker.broken_plugins);
  return json;
}

MetricDescription metric_from_json(const Json& json) {
  return {text_member(json, "name"), text_member_or(json, "unit", ""), text_member_or(json, "better", "none"),
          text_member_or(json, "description", ""), text_member_or(json, "source", "")};
}

std::vector<BrokenPlugin> broken_plugins_from_json(const Json& json) {
  std::vector<BrokenPlugin> plugins;
  if (optional_member(json, "broken_plugins") == nullptr) return plugins;
  for (const Json& each : list_member(json, "broken_plugins")) {
    plugins.push_back({text_member(each, "plugin"), text_member(each, "reason")});
  }
  return plugins;
}

WorkerDescription worker_from_json(const Json& json) {
  require_version(json);
  WorkerDescription worker;
  worker.backend = text_member(json, "backend");
  worker.revision = text_member_or(json, "revision", "");
  worker.measured_revision = text_member_or(json, "measured_revision", "");
  worker.compiler = text_member_or(json, "compiler", "");
  for (const Json& each : list_member(json, "allocators")) worker.allocators.push_back(allocator_from_json(each));
  for (const Json& each : list_member(json, "workloads")) worker.workloads.push_back(workload_from_json(each));
  for (const Json& each : list_member(json, "metrics")) worker.metrics.push_back(metric_from_json(each));
  if (optional_member(json, "plugins") != nullptr) {
    for (const Json& each : list_member(json, "plugins")) {
      worker.plugins.push_back({text_member(each, "plugin"), text_member_or(each, "file", ""),
                                text_member_or(each, "measured_revision", "")});
    }
  }
  worker.broken_plugins = broken_plugins_from_json(json);
  return worker;
}

void require_version(const Json& json) {
  const Json& found = member(json, "protocol");
  if (found == version) return;
  throw Malformed(fmt::format("it speaks protocol {}, but this program speaks {}. Build both programs from one tree",
                              found.dump(), version));
}

}  // namespace allocbench::protocol
