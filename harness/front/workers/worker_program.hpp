// This file finds the worker programs, and asks them questions that need no device.
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

// The folder of the workers. It is the folder that --workers names, otherwise $ALLOCBENCH_WORKERS, otherwise the folder
// of this executable. `backend` is cpu or cuda; for `allocbench check` it is check or tsan.
class WorkerFolder {
 public:
  explicit WorkerFolder(const std::string& from_command_line);

  std::optional<WorkerProgram> find(const std::string& backend) const;
  // Throws EnvironmentError if there is no such program.
  WorkerProgram require(const std::string& backend) const;
  std::vector<WorkerProgram> all() const;

 private:
  std::string folder_;
};

// Returns the output of `worker --describe`. Throws EnvironmentError if that fails.
std::string describe_text(const WorkerProgram& program);
Catalogue describe_worker(const WorkerProgram& program);

// Prints a warning about each of these plug-ins to stderr.
void warn_about(const std::vector<protocol::BrokenPlugin>& plugins);

// The device heap with which a worker is started.
struct HeapWish {
  // The size: the pool size if the pool is the device heap, 0 if no block comes from the device heap. It is empty if
  // only the allocator knows the size.
  std::optional<std::uint64_t> bytes = {};
  // The argument of `--device-heap-for`, if only the allocator knows the size.
  std::string question = {};

  bool operator==(const HeapWish&) const = default;
};

HeapWish heap_wish(const Batch& batch);
// Asks the allocator for the size of its device heap, in a separate process. Returns nullopt if the worker does not
// answer. Only --dry-run needs this function, because a worker that measures gets this question at its start.
std::optional<std::uint64_t> ask_device_heap(const WorkerProgram& program, const Batch& batch);

// Returns the options that give a worker this heap.
std::vector<std::string> heap_options(const HeapWish& wish);

// Returns the options that make a worker load only the plug-in of a batch.
std::vector<std::string> plugin_options(const Batch& batch);

}  // namespace allocbench::front
