#include "harness/worker/registry.hpp"

#include <algorithm>
#include <stdexcept>

namespace allocbench::worker {
namespace {

template <class Entry>
const Entry* find(const std::vector<Entry>& entries, const std::string& name) {
  const auto found =
      std::find_if(entries.begin(), entries.end(), [&](const Entry& entry) { return entry.traits.name == name; });
  return found == entries.end() ? nullptr : &*found;
}

}  // namespace

void Registry::add(AllocatorEntry allocator) {
  if (const AllocatorEntry* other = find_allocator(std::string(allocator.traits.name))) {
    throw std::logic_error("two plug-ins register the allocator '" + std::string(allocator.traits.name) +
                           "': " + other->plugin + " and " + allocator.plugin);
  }
  allocators_.push_back(std::move(allocator));
}

void Registry::add(WorkloadEntry workload) { workloads_.push_back(std::move(workload)); }

const AllocatorEntry* Registry::find_allocator(const std::string& name) const { return find(allocators_, name); }

const WorkloadEntry* Registry::find_workload(const std::string& name) const { return find(workloads_, name); }

}  // namespace allocbench::worker
