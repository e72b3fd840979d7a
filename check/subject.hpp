// A subject: one allocator under check, with its type erased so that searching is host code compiled once.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "allocators/contract/traits.hpp"
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

class Subject {
 public:
  virtual ~Subject() = default;
  virtual const Traits& traits() const = 0;
  virtual const std::string& plugin() const = 0;
  // Bytes of device heap that the small heap needs.
  virtual std::size_t device_heap_bytes() const = 0;
  // Why the allocator cannot run the model; empty when it can.
  virtual std::string unsupported(const Model& model) const = 0;
  // How many blocks of each size of the model a fresh heap serves to one lane alone, within a step budget for each; 0
  // where the fresh heap fails, empty where the model is not judged by these numbers. Makes and uses devices of its
  // own.
  virtual std::vector<std::uint32_t> fresh_capacities(const Model& model, std::uint64_t step_budget) const = 0;
  // Creates the allocator on its small heap, runs the model, frees what is left, and judges: no block lost, invariants
  // whole. Throws simt::Fault where a launch ends with one. `capacities` are those of the model.
  virtual void run(simt::Device& device, const Model& model, const std::vector<std::uint32_t>& capacities,
                   RunRecord& record) const = 0;
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
