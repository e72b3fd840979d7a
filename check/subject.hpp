// A subject: one allocator under check, with its type erased so that searching is host code compiled once.
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

// What one run of a model left behind, also when it ended with a fault.
struct RunRecord {
  std::string verdict;     // the oracle's; empty while all is well
  std::string last_calls;  // of malloc and free, a line each
  std::uint64_t most_live_blocks = 0;
  std::uint64_t refusals = 0;      // null pointers
  std::uint32_t first_launch = 0;  // of the device, from 0, that runs the model; those before it set up the allocator
  std::uint64_t hash = 0;          // over all steps of all launches
  std::uint64_t steps = 0;         // of the launches of the model
  std::string strategy;            // what the schedule of the last launch was drawn from
};

// What a fresh heap serves of each size of a model, in blocks. A failure must repeat by itself, so every seed is
// compared with the same numbers.
struct FreshHeap {
  std::vector<std::uint32_t> alone;  // to one lane, or to a warp where all lanes must call together; 0 where it fails
  // To a warp that asks together and then to one lane, the fewest in some schedules; only for models that reset.
  std::vector<std::uint32_t> together;
  std::string verdict;  // the oracle's, where it objects already here
};

class Subject {
 public:
  virtual ~Subject() = default;
  virtual const Traits& traits() const = 0;
  virtual const std::string& plugin() const = 0;
  // Bytes of device heap that the small heap of the model needs.
  virtual std::size_t device_heap_bytes(const Model& model) const = 0;
  // Why the allocator cannot run the model; empty when it can.
  virtual std::string unsupported(const Model& model) const = 0;
  // Makes and uses devices of its own; `step_budget` for each launch.
  virtual FreshHeap measure_fresh_heap(const Model& model, std::uint64_t step_budget) const = 0;
  // Creates the allocator on its small heap, runs the model, frees what is left, and judges: no block lost, invariants
  // whole. Throws simt::Fault where a launch ends with one.
  virtual void run(simt::Device& device, const Model& model, const FreshHeap& fresh, RunRecord& record) const = 0;
};

class SubjectList {
 public:
  void add(std::unique_ptr<Subject> subject) { subjects_.push_back(std::move(subject)); }
  const std::vector<std::unique_ptr<Subject>>& all() const { return subjects_; }
  // Null when there is none of this name.
  const Subject* find(std::string_view name) const;

 private:
  std::vector<std::unique_ptr<Subject>> subjects_;
};

}  // namespace allocbench::check
