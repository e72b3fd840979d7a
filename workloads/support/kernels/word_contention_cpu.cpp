#include <atomic>
#include <barrier>
#include <numeric>
#include <thread>

#include "workloads/support/kernels/word_contention.hpp"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace allocbench {
namespace {

std::uint64_t time_stamp() {
#if defined(__x86_64__)
  return __rdtsc();
#else
  return 0;
#endif
}

}  // namespace

WordContention::WordContention(std::uint32_t threads, std::uint32_t threads_per_block, std::uint32_t additions)
    : threads_(threads), threads_per_block_(threads_per_block), additions_(additions), word_(1), cycles_(threads) {}

double WordContention::run(simt::Stream&, PhaseTimer& timer) {
  std::uint32_t& word = *word_.data();
  std::atomic_ref<std::uint32_t>(word).store(0, std::memory_order_relaxed);
  std::uint64_t* const cycles = cycles_.data();
  std::barrier gate(threads_ + 1);
  std::vector<std::jthread> threads;
  for (std::uint32_t rank = 0; rank < threads_; ++rank) {
    threads.emplace_back([&, rank] {
      const std::atomic_ref<std::uint32_t> atomic(word);
      gate.arrive_and_wait();
      const std::uint64_t begin = time_stamp();
      for (std::uint32_t i = 0; i < additions_; ++i) atomic.fetch_add(1, std::memory_order_relaxed);
      cycles[rank] = time_stamp() - begin;
    });
  }
  timer.host_phase("atomics", expected(), [&] {
    gate.arrive_and_wait();
    threads.clear();  // joins the threads
  });
  return std::accumulate(cycles, cycles + threads_, 0.0) / static_cast<double>(expected());
}

std::uint32_t WordContention::found(simt::Stream&) const { return *word_.data(); }

}  // namespace allocbench
