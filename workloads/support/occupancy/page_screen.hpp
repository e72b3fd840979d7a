// PageScreen finds wrong pointers among pages of one size, on the device.
//
// A sample of an application can have millions of pages. The host would take too long to sort their addresses. So more
// than 65,536 pages are sorted on the device, and PointerCheck gets only the lowest page, the highest page and those
// that break a rule.
#pragma once

#include <vector>

#include "simt/simt.hpp"
#include "workloads/support/verification/pointer_check.hpp"

namespace allocbench {

class PageScreen {
 public:
  // Makes a screen for up to `most_pages` pages at a time.
  PageScreen(simt::Stream& stream, std::uint32_t most_pages);

  // These functions return the memory in which kernels store the address of page i (word i), and the number of pages.
  std::uint64_t* addresses() const { return pages_.data(); }
  std::uint32_t* count() const { return counts_.data(); }
  std::uint32_t most_pages() const { return static_cast<std::uint32_t>(pages_.size()); }
  void clear();
  // Returns the number of pages stored since clear().
  std::uint32_t pages() const { return counts_.to_host(stream_)[0]; }

  // Returns every page as a block of `bytes` if there are few pages. Otherwise returns the lowest and the highest page,
  // and at most 32 findings: neighbours that overlap, and addresses that are not multiples of 16. Adds `nulls` blocks
  // at address 0. If more than most_pages() pages were stored, the result has only these nulls.
  std::vector<RecordedBlock> blocks(std::uint64_t bytes, std::uint64_t nulls) const;

  static constexpr std::uint32_t few = 1 << 16;

 private:
  simt::Stream& stream_;
  simt::Buffer<std::uint64_t> pages_;
  simt::Buffer<std::uint64_t> sorted_;
  simt::Buffer<std::uint32_t> counts_;  // numbers of pages and of offenders_
  simt::Buffer<std::uint64_t> offenders_;
};

}  // namespace allocbench
