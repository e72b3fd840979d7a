// Puts a share of an allocator's pages into use before a sample of an application, and frees them after it.
//
// Pham et al. 2025, sec. 6: other programs are served too, so that 50 or 5 % of the pages are free. Which ones are in
// use is chance, as in get_page (workloads/common/occupancy.hpp). Designs that never free get one block of the size
// instead: where their free memory lies makes no difference to them.
#pragma once

#include <cmath>

#include "workloads/common/occupancy.hpp"
#include "workloads/common/requirements.hpp"

namespace allocbench {

template <class A>
class PreOccupation {
 public:
  // `page_bytes`: the requests that fill the pool where pages cannot be marked.
  PreOccupation(const RunSetting<A>& setting, std::uint64_t page_bytes, double free_share, simt::Stream& stream)
      : stream_(stream),
        pool_bytes_(setting.pool_bytes),
        page_bytes_(page_bytes),
        used_share_(1 - free_share),
        seed_(setting.seed),
        occupants_(stream, requests(setting.pool_bytes, page_bytes, free_share)) {}

  // Why an allocator cannot be brought to this share; empty when it can.
  static std::string unsupported(const RunSetting<A>& setting, std::uint64_t page_bytes, double free_share) {
    if (free_share >= 1 || A::traits.frees == Frees::never) return {};
    if (A::traits.frees != Frees::individually) {
      return std::string(A::traits.display_name) + " does not free single blocks: no pages could be made free before";
    }
    if (A::traits.whole_warp_calls) {
      return std::string(A::traits.display_name) +
             " needs all lanes of a warp to call together, also when single pages are made free before";
    }
    if (!marks() && setting.pool_bytes / pad(page_bytes, 16) > most_requests) {
      return std::to_string(setting.pool_bytes / pad(page_bytes, 16)) + " requests would fill the pool; at most " +
             std::to_string(most_requests) + " are kept";
    }
    return {};
  }

  void enter(const A& allocator) {
    if (used_share_ <= 0) return;
    if constexpr (marks()) {
      A handle = allocator;
      handle.occupy(stream_, chosen(handle.page_count()));
    } else if constexpr (A::traits.frees == Frees::never) {
      // 16-byte steps keep the next block aligned.
      const auto bytes = static_cast<std::uint64_t>(static_cast<double>(pool_bytes_) * used_share_) / 16 * 16;
      occupants_.enter(allocator, bytes, FirstPages{1});
    } else {
      occupants_.enter(allocator, page_bytes_, chosen(occupants_.count()));
    }
  }

  // After all blocks of the sample were freed.
  void leave(const A& allocator) {
    if (used_share_ <= 0) return;
    if constexpr (marks()) {
      A handle = allocator;
      handle.reset(stream_);
    } else if constexpr (A::traits.frees != Frees::never) {
      occupants_.leave(allocator, chosen(occupants_.count()));
    }
  }

 private:
  static constexpr std::uint64_t most_requests = 1ull << 28;

  static constexpr bool marks() { return MarksPages<A> && A::traits.fresh == Fresh::by_reset; }
  static std::uint32_t requests(std::uint64_t pool_bytes, std::uint64_t page_bytes, double free_share) {
    if (free_share >= 1 || marks()) return 0;
    if (A::traits.frees == Frees::never) return 1;
    return static_cast<std::uint32_t>(pool_bytes / pad(page_bytes, 16));
  }
  RandomSubset chosen(std::uint32_t count) const {
    return RandomSubset(std::max(count, 1u), static_cast<std::uint32_t>(std::llround(count * used_share_)), seed_);
  }

  simt::Stream& stream_;
  std::uint64_t pool_bytes_;
  std::uint64_t page_bytes_;
  double used_share_;
  std::uint64_t seed_;
  Occupants occupants_;
};

}  // namespace allocbench
