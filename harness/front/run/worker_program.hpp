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

// Prints a line about each to stderr.
void warn_about(const std::vector<protocol::BrokenPlugin>& plugins);

// The device heap that a worker is started with.
struct HeapWish {
  // The place of the blocks decides: the pool for allocators that live in the heap, nothing for allocators that live in
  // the pool.
  std::optional<std::uint64_t> bytes = {};
  // Where only the allocator knows: what to ask it, for `--device-heap-for`.
  std::string question = {};

  bool operator==(const HeapWish&) const = default;
};

HeapWish heap_wish(const Batch& batch);
// Asks it in a process of its own; nullopt when the worker gives no answer. For plans: a worker that serves is asked
// when it starts.
std::optional<std::uint64_t> ask_device_heap(const WorkerProgram& program, const Batch& batch);

// The options that give a worker this heap.
std::vector<std::string> heap_options(const HeapWish& wish);

// The options that make a worker load only what a batch needs.
std::vector<std::string> plugin_options(const Batch& batch);

}  // namespace allocbench::front
