// A subject is one allocator that `allocbench check` runs. The interface hides the allocator's type, so that the search
// is host code that is compiled once.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "allocators/support/contract/traits.hpp"
#include "check/model.hpp"

namespace simt {
class Device;
}

namespace allocbench::check {

// RunRecord holds the results of one run of a model, even if the run ended with a fault.
struct RunRecord {
  std::string verdict;     // verdict of the oracle; empty if all is correct
  std::string last_calls;  // last calls of malloc and free, one line each
  std::uint64_t most_live_blocks = 0;
  std::uint64_t refusals = 0;  // number of null pointers
  // Number of the first launch of the model, counted from 0. Earlier launches set up the allocator.
  std::uint32_t first_launch = 0;
  std::uint64_t hash = 0;   // hash over all steps of all launches
  std::uint64_t steps = 0;  // steps of the model's launches and of the checks after them
  std::string strategy;     // strategy and parameters of the last launch
};

// FreshHeap has, for each size of a model, the number of blocks that a fresh heap serves. Every seed is compared with
// the same numbers, so that a failure can be repeated alone.
struct FreshHeap {
  // Number of blocks served to one lane, or to a warp if all lanes must call together; 0 on failure.
  std::vector<std::uint32_t> alone;
  // Number of blocks served to a whole warp and then to one lane: the smallest number over 32 schedules. Only models
  // with resets have this number.
  std::vector<std::uint32_t> together;
  std::string verdict;  // verdict of the oracle, if the measurement already fails; otherwise empty
};

class Subject {
 public:
  virtual ~Subject() = default;
  virtual const Traits& traits() const = 0;
  virtual const std::string& plugin() const = 0;
  // Returns the bytes of device heap that the small heap of the model needs.
  virtual std::size_t device_heap_bytes(const Model& model) const = 0;
  // Returns the reason why the allocator cannot run the model, or an empty text if it can.
  virtual std::string unsupported(const Model& model) const = 0;
  // Measures a fresh heap on devices of its own. `step_budget` applies to each launch.
  virtual FreshHeap measure_fresh_heap(const Model& model, std::uint64_t step_budget) const = 0;
  // Creates the allocator on the small heap that the model names, and runs the model. Frees the remaining blocks if the
  // design frees single blocks and the model has no resets. Then checks that the invariants hold, and that the heap
  // serves the blocks that the design promises. Throws simt::Fault if a launch ends with a fault. Runs nothing if
  // fresh.verdict has a text.
  virtual void run(simt::Device& device, const Model& model, const FreshHeap& fresh, RunRecord& record) const = 0;
};

class SubjectList {
 public:
  void add(std::unique_ptr<Subject> subject) { subjects_.push_back(std::move(subject)); }
  const std::vector<std::unique_ptr<Subject>>& all() const { return subjects_; }
  // Returns the subject with this name, or null if there is none.
  const Subject* find(std::string_view name) const;

 private:
  std::vector<std::unique_ptr<Subject>> subjects_;
};

}  // namespace allocbench::check
