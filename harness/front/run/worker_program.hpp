// Finds the worker programs, and asks them questions that need no device.
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

// The folder is --workers, otherwise $ALLOCBENCH_WORKERS, otherwise that of this executable. `backend` is cpu or cuda;
// for `allocbench check` it is check or tsan.
class WorkerFolder {
 public:
  explicit WorkerFolder(const std::string& from_command_line);

  std::optional<WorkerProgram> find(const std::string& backend) const;
  // Throws EnvironmentError with the path.
  WorkerProgram require(const std::string& backend) const;
  std::vector<WorkerProgram> all() const;

 private:
  std::string folder_;
};

// The output of `worker --describe`. Throws EnvironmentError if that fails.
std::string describe_text(const WorkerProgram& program);
Catalogue describe_worker(const WorkerProgram& program);

// Prints a line for each to stderr.
void warn_about(const std::vector<protocol::BrokenPlugin>& plugins);

// The device heap that a worker is started with.
struct HeapWish {
  // The size follows from the place of the blocks: the pool size if blocks are in the heap, nothing if they are in the
  // pool.
  std::optional<std::uint64_t> bytes = {};
  // If only the allocator knows the size: the argument of `--device-heap-for`.
  std::string question = {};

  bool operator==(const HeapWish&) const = default;
};

HeapWish heap_wish(const Batch& batch);
// Asks the allocator in a separate process; nullopt if the worker does not answer. For plans only, because a serving
// worker is asked at its start.
std::optional<std::uint64_t> ask_device_heap(const WorkerProgram& program, const Batch& batch);

// The options that give a worker this heap.
std::vector<std::string> heap_options(const HeapWish& wish);

// The options that make a worker load only the plug-in of a batch.
std::vector<std::string> plugin_options(const Batch& batch);

}  // namespace allocbench::front
