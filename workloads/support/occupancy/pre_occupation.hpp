// PreOccupation puts a share of an allocator's pages into use before a sample of an application, and frees them after
// it.
//
// Pham et al. 2025, sec. 6: other programs use the pool, too, so that 50 % or 5 % of the pages are free. The pages in
// use are random, as in get_page (workloads/support/occupancy/occupancy.hpp). Designs that never free get one block
// with the size of all these pages instead, because the position of their free memory makes no difference.
#pragma once

#include "workloads/support/contract/workload.hpp"
#include "workloads/support/occupancy/occupancy.hpp"

namespace allocbench {

class PreOccupation {
 public:
  // `page_bytes` is the size of the requests that fill the pool if pages cannot be marked.
  PreOccupation(const RunSetting& setting, std::uint64_t page_bytes, double free_share, simt::Stream& stream);

  // Returns the reason why the allocator cannot start with this free share, or an empty text if it can.
  static std::string unsupported(const RunSetting& setting, std::uint64_t page_bytes, double free_share);

  void enter(const AllocatorHandle& allocator);
  // Frees the pages in use, unless the design never frees or the allocator will be reset. The caller must have freed
  // all blocks of the sample.
  void leave(const AllocatorHandle& allocator);

 private:
  PageSet chosen(std::uint32_t count) const;

  simt::Stream& stream_;
  std::uint64_t pool_bytes_;
  std::uint64_t page_bytes_;
  double used_share_;
  std::uint64_t seed_;
  Occupants occupants_;
};

}  // namespace allocbench
