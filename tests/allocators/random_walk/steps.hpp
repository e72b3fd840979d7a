// steps_of_page_requests() counts the steps of mallocs of one page.
#pragma once

#include <vector>

#include "allocators/support/contract/session.hpp"
#include "simt/simt.hpp"
#include "workloads/support/random/page_set.hpp"

namespace allocbench::testing {

template <class Thread>
class StepCounter : public Thread {
 public:
  explicit StepCounter(const Thread& thread) : Thread(thread) {}
  void probe(simt::Step step) { attempts_ += step == simt::Step::attempt; }
  std::uint32_t attempts() const { return attempts_; }

 private:
  std::uint32_t attempts_ = 0;
};

struct CountSteps {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, std::uint64_t bytes, std::uint32_t* steps, void** blocks) const {
    StepCounter<Thread> counter(thread);
    auto&& session = attach(allocator, counter);
    blocks[thread.rank_in_grid()] = session.malloc(counter, bytes);
    detach(session, counter);
    steps[thread.rank_in_grid()] = counter.attempts();
  }
};

struct Steps {
  std::vector<std::uint32_t> steps;  // steps of each thread
  std::vector<void*> blocks;

  double average() const {
    double sum = 0;
    for (const std::uint32_t each : steps) sum += each;
    return sum / static_cast<double>(steps.size());
  }
};

// Lets each of `threads` threads request one page. `threads` must be a multiple of 32. Of the `pages` pages, `free`
// pages at random places are free.
template <class A>
Steps steps_of_page_requests(std::uint32_t pages, std::uint32_t free, std::uint32_t threads, std::uint64_t seed) {
  simt::ExecutorOptions options;
  options.mode = simt::ExecutorMode::deterministic;
  options.strategy = simt::StrategyKind::lockstep;  // the lanes of a warp stay together
  options.seed = seed;
  simt::Device device(options);
  simt::Stream stream(device);
  typename A::Parameters parameters;
  parameters.page_bytes = 16;
  Arena arena(stream, std::size_t{pages} * 16);
  A allocator = A::create(arena, parameters);
  allocator.occupy(stream, PageSet::by_chance(pages, pages - free, seed));
  simt::Buffer<std::uint32_t> steps(threads);
  simt::Buffer<void*> blocks(threads);
  simt::launch(stream, {threads / 32, 32}, CountSteps{}, allocator, std::uint64_t{16}, steps.data(), blocks.data());
  return {steps.to_host(stream), blocks.to_host(stream)};
}

}  // namespace allocbench::testing
