#include "workloads/replay/replay_plan.hpp"

#include <algorithm>

namespace allocbench::replay {
namespace {

using traces::Call;
using traces::Operation;
using traces::Trace;

// The calls of a thread in a kernel that are not yet part of a launch.
struct Rest {
  std::uint32_t thread;
  std::size_t next;
  std::size_t end;
};

class Planner {
 public:
  explicit Planner(const Trace& trace)
      : trace_(trace), block_of_(trace.calls.size(), no_block), done_(trace.calls.size()) {}

  Plan plan() {
    for (std::size_t i = 0; i < trace_.calls.size(); ++i) {
      const Call& call = trace_.calls[i];
      if (call.operation == Operation::malloc && call.block != no_block) {
        block_of_[i] = static_cast<std::uint32_t>(plan_.block_bytes.size());
        plan_.block_bytes.push_back(call.bytes);
      }
    }
    freed_.resize(plan_.block_bytes.size());
    std::size_t begin = 0;
    for (std::uint32_t kernel = 0; kernel < trace_.kernels.size(); ++kernel) {
      const std::size_t end = begin + trace_.kernels[kernel].calls;
      add_kernel(kernel, begin, end);
      begin = end;
    }
    add_left();
    return std::move(plan_);
  }

 private:
  void add_kernel(std::uint32_t kernel, std::size_t begin, std::size_t end) {
    std::vector<Rest> rests;
    for (std::size_t i = begin; i < end; ++i) {
      if (i == begin || trace_.calls[i].thread != trace_.calls[i - 1].thread) {
        rests.push_back({trace_.calls[i].thread, i, i});
      }
      rests.back().end = i + 1;
    }
    // A kernel without calls also takes time, so it gets a launch.
    do {
      add_launch(kernel, rests);
      std::erase_if(rests, [](const Rest& rest) { return rest.next == rest.end; });
    } while (!rests.empty());
  }

  void add_launch(std::uint32_t kernel, std::vector<Rest>& rests) {
    const traces::Kernel& shape = trace_.kernels[kernel];
    plan_.launches.push_back({kernel, shape.blocks, shape.threads_per_block, plan_.begin.size()});
    bool moves = rests.empty();
    std::uint32_t thread = 0;
    for (Rest& rest : rests) {
      for (; thread <= rest.thread; ++thread) plan_.begin.push_back(static_cast<std::uint32_t>(plan_.steps.size()));
      for (; rest.next != rest.end && is_ready(rest.next); ++rest.next, moves = true) add_step(rest.next);
    }
    for (; thread <= shape.threads(); ++thread) plan_.begin.push_back(static_cast<std::uint32_t>(plan_.steps.size()));
    if (!moves) fail_for_circle(shape, rests.front());
    ++launch_;
  }

  // Returns whether the call can run now. A free needs a block that exists or that the same thread allocates earlier.
  bool is_ready(std::size_t i) const {
    const Call& call = trace_.calls[i];
    if (call.operation == Operation::malloc || call.block == no_block) return true;
    const std::uint32_t made_in = done_[call.block];
    return made_in != 0 && (made_in != launch_ || trace_.calls[call.block].thread == call.thread);
  }

  void add_step(std::size_t i) {
    const Call& call = trace_.calls[i];
    done_[i] = launch_;
    if (call.operation == Operation::free) {
      ++plan_.frees;
      plan_.steps.push_back({0, call.block == no_block ? no_block : block_of_[call.block], 1});
      if (call.block != no_block) freed_[block_of_[call.block]] = true;
      return;
    }
    if (call.block == no_block) {
      ++plan_.refused;
      return;
    }
    ++plan_.mallocs;
    plan_.steps.push_back({call.bytes, block_of_[i], 0});
  }

  void add_left() {
    for (std::uint32_t block = 0; block < freed_.size(); ++block) {
      if (!freed_[block]) plan_.left.push_back(block);
    }
  }

  [[noreturn]] void fail_for_circle(const traces::Kernel& kernel, const Rest& rest) const {
    const Call& call = trace_.calls[rest.next];
    throw traces::TraceError("kernel " + kernel.name + ": thread " + std::to_string(call.thread) +
                             " frees a block of thread " + std::to_string(trace_.calls[call.block].thread) +
                             " of the same kernel, and the two wait for each other (call " + std::to_string(rest.next) +
                             " frees block " + std::to_string(call.block) + "). No order of launches can replay that.");
  }

  const Trace& trace_;
  Plan plan_;
  std::vector<std::uint32_t> block_of_;  // number of the block that each call allocates
  std::vector<std::uint32_t> done_;      // launch of each call, counted from 1
  std::vector<bool> freed_;              // whether each block has been freed
  std::uint32_t launch_ = 1;
};

}  // namespace

Plan make_plan(const Trace& trace) { return Planner(trace).plan(); }

}  // namespace allocbench::replay
