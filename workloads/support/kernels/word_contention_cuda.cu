#include <numeric>

#include "workloads/support/kernels/word_contention.hpp"

namespace allocbench {
namespace {

// Every addition waits for the previous one, because the operand depends on the value that the previous one returned.
struct AddKernel {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, std::uint32_t* word, std::uint32_t threads, std::uint32_t additions,
                          std::uint64_t* cycles) const {
    const std::uint32_t rank = thread.rank_in_grid();
    if (rank >= threads) return;
    const auto atomic = thread.atomic(*word);
    std::uint32_t before = 0;
    const std::uint64_t begin = thread.clock();
    // The word stays below 2^32 - 1, so the operand is always 1, but the compiler cannot know this.
    for (std::uint32_t i = 0; i < additions; ++i) {
      before = atomic.fetch_add(before == 0xffffffffu ? 2u : 1u, simt::relaxed);
    }
    const std::uint64_t end = thread.clock() + (before == 0xffffffffu ? 1 : 0);
    cycles[rank] = end - begin;
  }
};

}  // namespace

WordContention::WordContention(std::uint32_t threads, std::uint32_t threads_per_block, std::uint32_t additions)
    : threads_(threads), threads_per_block_(threads_per_block), additions_(additions), word_(1), cycles_(threads) {}

double WordContention::run(simt::Stream& stream, PhaseTimer& timer) {
  word_.fill_bytes(stream, 0);
  const simt::LaunchShape shape{(threads_ - 1) / threads_per_block_ + 1, threads_per_block_};
  timer.phase("atomics", std::uint64_t{threads_} * additions_,
              [&] { simt::launch(stream, shape, AddKernel{}, word_.data(), threads_, additions_, cycles_.data()); });
  const std::vector<std::uint64_t> cycles = cycles_.to_host(stream);
  return std::accumulate(cycles.begin(), cycles.end(), 0.0) / static_cast<double>(expected());
}

std::uint32_t WordContention::found(simt::Stream& stream) const { return word_.to_host(stream).front(); }

}  // namespace allocbench
