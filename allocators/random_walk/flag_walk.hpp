// RW is a random walk over the used flags of all pages.
//
// Paper: Pham et al. 2025, section 3.1 and algorithm 1.
//
// Idea: RW has no list of free pages. A request checks random pages until it wins a free one or gives up. The time of a
// request depends on the share of free pages and hardly on the number of requests. A free clears the page's flag.
//
// Data: one 4-byte flag per page (`used`), outside the pool. With a word per flag, a free is one store instead of a
// read-modify-write.
//
// Protocol: An exchange that reads 0 from a page's flag wins the page (acquire), and a store of 0 frees it (release).
// No other word is shared, so there is no ABA.
//
// Differs from the paper (rw):
// * We chose the memory orders.
// * A walk ends by the rule of section 3.2.3 (page_parameters.hpp).
// * Assumed: "Try to set" in the paper means an exchange.
// * Assumed: Philox makes the random numbers.
//
// Reworked (rw_reworked): The first probe exchanges without a load before. If many pages are free, this saves a trip to
// memory. If free pages are scarce, the exchange is one atomic operation among many loads.
#pragma once

#include <algorithm>
#include <vector>

#include "allocators/random_walk/page_parameters.hpp"
#include "allocators/random_walk/walk.hpp"
#include "allocators/support/common/page_array.hpp"

namespace allocbench {

namespace random_walk {

// Writes the flag of each page: 1 if used(page) is true, otherwise 0.
struct WriteFlags {
  template <class Thread, class Used>
  SIMT_FN void operator()(Thread& thread, std::uint32_t* flags, std::uint32_t pages, Used used) const {
    for (std::uint32_t i = thread.rank_in_grid(); i < pages; i += thread.grid_size()) {
      thread.atomic(flags[i]).store(used(i) ? 1u : 0u, simt::relaxed);
    }
  }
};

enum class FirstProbe { looks, exchanges };

template <FirstProbe first_probe>
class FlagWalk {
 public:
  using Parameters = PageParameters;

  static std::size_t max_request(std::size_t, const Parameters& parameters) { return parameters.page_bytes; }
  static SmallHeap<Parameters> small_heap() { return {24 * 16, {.page_bytes = 16, .scarce_share = 0.01}}; }

  void reset(simt::Stream& stream) { simt::device_fill(stream, used_, 0, pages_.count * sizeof *used_); }

  // workloads/support/occupancy/occupancy.hpp describes these two functions.
  std::uint32_t page_count() const { return pages_.count; }
  template <class Used>
  void occupy(simt::Stream& stream, const Used& used) const {
    constexpr std::uint32_t threads = 128;
    const std::uint32_t blocks = std::min((pages_.count - 1) / threads + 1, 4096u);
    simt::launch(stream, {blocks, threads}, WriteFlags{}, used_, pages_.count, used);
  }

  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t bytes) {
    if (pages_.limit.refuses(bytes)) return nullptr;
    Walk walk(thread, seed_);
    for (std::uint32_t probe = 0; probe < most_probes_; ++probe) {
      thread.probe(simt::Step::attempt);
      const std::uint32_t page = walk.next(pages_.count);
      const auto flag = thread.atomic(used_[page]);
      if ((first_probe == FirstProbe::looks || probe != 0) && flag.load(simt::relaxed) != 0) continue;
      if (flag.exchange(1u, simt::acquire) == 0) return pages_.address(page);
    }
    return nullptr;
  }

  template <class Thread>
  SIMT_FN void free(Thread& thread, void* block) {
    if (block == nullptr) return;
    thread.atomic(used_[pages_.page_of(block)]).store(0u, simt::release);
  }

  std::string broken_invariant(simt::Stream& stream) const {
    std::vector<std::uint32_t> used(pages_.count);
    simt::copy_to_host(stream, used.data(), used_, used.size() * sizeof used[0]);
    for (std::uint32_t page = 0; page < pages_.count; ++page) {
      if (used[page] > 1) return "the flag of page " + std::to_string(page) + " is " + std::to_string(used[page]);
    }
    return {};
  }

 protected:
  static FlagWalk lay_out(Arena& arena, const Parameters& parameters, std::string_view name) {
    FlagWalk allocator;
    allocator.pages_ = PageArray::of_arena(arena, parameters.page_bytes, name);
    allocator.used_ = arena.metadata<std::uint32_t>(allocator.pages_.count);
    allocator.most_probes_ = vain_probes(parameters.scarce_share, allocator.pages_.count);
    allocator.seed_ = parameters.seed;
    return allocator;
  }

 private:
  PageArray pages_;
  std::uint32_t* used_ = nullptr;  // 0 = free, 1 = used
  std::uint32_t most_probes_ = 0;
  std::uint32_t seed_ = 0;
};

}  // namespace random_walk
}  // namespace allocbench
