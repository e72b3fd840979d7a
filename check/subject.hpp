// A subject: one allocator under check. Its type is erased, so that the search is host code that is compiled once.
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

// The results of one run of a model, even if the run ended with a fault.
struct RunRecord {
  std::string verdict;     // verdict of the oracle; empty if all is correct
  std::string last_calls;  // of malloc and free, a line each
  std::uint64_t most_live_blocks = 0;
  std::uint64_t refusals = 0;  // null pointers
  // number of the launch that runs the model, from 0; earlier launches set up the allocator
  std::uint32_t first_launch = 0;
  std::uint64_t hash = 0;   // over all steps of all launches
  std::uint64_t steps = 0;  // of the launches of the model
  std::string strategy;     // the strategy and parameters of the last launch
};

// The number of blocks of each size of a model that a fresh heap serves. Every seed is compared with the same numbers,
// so that a failure can be repeated alone.
struct FreshHeap {
  std::vector<std::uint32_t> alone;  // to one lane, or to a warp if all lanes must call together; 0 on failure
  // To a whole warp and then to one lane: the smallest number over some schedules. Only for models with resets.
  std::vector<std::uint32_t> together;
  std::string verdict;  // verdict of the oracle, if this step already fails
};

class Subject {
 public:
  virtual ~Subject() = default;
  virtual const Traits& traits() const = 0;
  virtual const std::string& plugin() const = 0;
  // Bytes of device heap that the small heap of the model needs.
  virtual std::size_t device_heap_bytes(const Model& model) const = 0;
  // The reason why the allocator cannot run the model. Empty if it can.
  virtual std::string unsupported(const Model& model) const = 0;
  // Creates its own devices. `step_budget` applies to each launch.
  virtual FreshHeap measure_fresh_heap(const Model& model, std::uint64_t step_budget) const = 0;
  // Creates the allocator on its small heap, runs the model, frees the remaining blocks, and checks that no block is
  // lost and that the invariants hold. Throws simt::Fault if a launch ends with one.
  virtual void run(simt::Device& device, const Model& model, const FreshHeap& fresh, RunRecord& record) const = 0;
};

class SubjectList {
 public:
  void add(std::unique_ptr<Subject> subject) { subjects_.push_back(std::move(subject)); }
  const std::vector<std::unique_ptr<Subject>>& all() const { return subjects_; }
  // Null if there is no subject with this name.
  const Subject* find(std::string_view name) const;

 private:
  std::vector<std::unique_ptr<Subject>> subjects_;
};

}  // namespace allocbench::check
