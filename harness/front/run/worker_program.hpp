// Finding the worker programs and asking them what needs no device.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/front/config/catalogue.hpp"
#include "harness/front/plan/plan.hpp"

namespace allocbench::front {

struct WorkerProgram {
  std::string backend;
  std::string path;
};

// The folder is --workers, else $ALLOCBENCH_WORKERS, else that of this executable.
// `backend` is cpu or cuda, and for `allocbench check` check or tsan.
class WorkerFolder {
 public:
  explicit WorkerFolder(const std::string& from_command_line);

  std::optional<WorkerProgram> find(const std::string& backend) const;
  // Throws EnvironmentError that names the path looked at.
  WorkerProgram require(const std::string& backend) const;
  std::vector<WorkerProgram> all() const;

 private:
  std::string folder_;
};

// What `worker --describe` prints. Throws EnvironmentError when that fails.
std::string describe_text(const WorkerProgram& program);
Catalogue describe_worker(const WorkerProgram& program);

// The device heap that a batch's worker must be started with: the pool for allocators that live in the heap, nothing
// for those that live in the pool, else what the allocator asks for. nullopt when the worker gives no answer: the
// `allocator` command will then give the reason.
std::optional<std::uint64_t> device_heap_for(const WorkerProgram& program, const Batch& batch);

}  // namespace allocbench::front
