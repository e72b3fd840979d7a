#include "harness/worker/plugins.hpp"

#include <algorithm>
#include <map>

#include "harness/plugins/shared_objects.hpp"
#include "protocol/sources.hpp"
#include "workloads/support/contract/plugin.hpp"

namespace allocbench::worker {
namespace {

namespace fs = std::filesystem;

struct Plugin {
  std::vector<protocol::PluginDescription> files;
  std::vector<const PluginPart*> parts;
  std::string broken;  // why it cannot be used, or empty
};

std::string plugin_of(const fs::path& file) {
  const std::string name = file.stem().string();
  const std::string suffix = "-applications";
  return name.ends_with(suffix) ? name.substr(0, name.size() - suffix.size()) : name;
}

// Groups the parts by folder and name. If one part of a plug-in is unusable, the whole plug-in counts as unusable,
// because some of its kernels would be missing.
std::map<fs::path, Plugin> read_plugins(const LoadedFiles& loaded) {
  std::map<fs::path, Plugin> plugins;
  const auto plugin_with = [&](const fs::path& file) -> Plugin& {
    return plugins[file.parent_path() / plugin_of(file)];
  };
  for (const BrokenFile& each : loaded.broken) plugin_with(each.file).broken = each.reason;
  for (const SharedObject& object : loaded.objects) {
    Plugin& plugin = plugin_with(object.file());
    try {
      plugin.parts.push_back(object.function<const PluginPart*()>("allocbench_plugin_part")());
      plugin.files.push_back(
          {plugin_of(object.file()), object.file().string(), protocol::sources_in(object.sources()).measured_revision});
    } catch (const BadPlugin& bad) {
      plugin.broken = bad.what();
    }
  }
  for (auto& [path, plugin] : plugins) {
    const bool has_allocators =
        std::ranges::any_of(plugin.parts, [](auto* part) { return part->allocators != nullptr; });
    if (!plugin.broken.empty() || has_allocators) continue;
    plugin.broken = path.string() + ".so is missing, but a file with kernels for its allocators is present. Copy both.";
  }
  return plugins;
}

void add(const Plugin& plugin, Registry& registry) {
  for (const PluginPart* part : plugin.parts) {
    if (part->allocators == nullptr) continue;
    for (AllocatorType& allocator : part->allocators()) registry.add(std::move(allocator));
  }
  for (const PluginPart* part : plugin.parts) {
    for (const UnitKernels unit : part->kernels) {
      for (const auto& [allocator, kernels] : unit) registry.add_kernels(allocator, kernels);
    }
  }
  for (const protocol::PluginDescription& file : plugin.files) registry.add_file(file);
}

}  // namespace

Registry load_plugins(const std::string& backend, std::vector<WorkloadType> workloads, const std::string& only) {
  std::vector<fs::path> files = plugin_files(backend);
  if (!only.empty()) std::erase_if(files, [&](const fs::path& file) { return plugin_of(file) != only; });
  Registry registry(std::move(workloads));
  for (const auto& [path, plugin] : read_plugins(load_files(files, backend, only.empty()))) {
    if (plugin.broken.empty()) {
      add(plugin, registry);
    } else if (only.empty()) {
      registry.add_broken({path.filename().string(), plugin.broken});
    } else {
      throw BadPlugin(plugin.broken);
    }
  }
  return registry;
}

}  // namespace allocbench::worker
