// PageScreen: looks for wrong pointers among very many pages of one size, on the device.
//
// Samples of applications hold millions of pages, more than PointerCheck can sort on the host between two samples. The
// pages are sorted on the device, and only those that break a rule go to PointerCheck, with the lowest and the highest.
#pragma once

#include <vector>

#include "simt/simt.hpp"
#include "workloads/support/verification/pointer_check.hpp"

namespace allocbench {

class PageScreen {
 public:
  // Sets of up to `most_pages` pages.
  PageScreen(simt::Stream& stream, std::uint32_t most_pages);

  // Where kernels leave addresses: word i for page i, and how many there are.
  std::uint64_t* addresses() const { return pages_.data(); }
  std::uint32_t* count() const { return counts_.data(); }
  std::uint32_t most_pages() const { return static_cast<std::uint32_t>(pages_.size()); }
  void clear();
  // Pages noted since.
  std::uint32_t pages() const { return counts_.to_host(stream_)[0]; }

  // Every page as a block of `bytes`, if there are few. Otherwise only pages next to a broken rule: neighbours that
  // overlap, and addresses that are not multiples of 16. `nulls` blocks at address 0 come with them.
  std::vector<RecordedBlock> blocks(std::uint64_t bytes, std::uint64_t nulls) const;

  static constexpr std::uint32_t few = 1 << 16;

 private:
  simt::Stream& stream_;
  simt::Buffer<std::uint64_t> pages_;
  simt::Buffer<std::uint64_t> sorted_;
  simt::Buffer<std::uint32_t> counts_;  // pages, offenders
  simt::Buffer<std::uint64_t> offenders_;
};

}  // namespace allocbench
