// PageChain is the format of a chain of pages with records. The pages may come from any allocator of the suite.
//
// Paper: Pham et al. 2025, appendices B and C. A program with an unknown number of results requests pages one by one.
//
// Data: Every page begins with a header of 16 bytes {link to the page before, records, seal}. Each page links to the
// page before it, so an append changes no link of an older page.
//
// The seal is a hash of the other two fields and the address of the page. A reader knows the number of records of a
// chain and stops at a wrong seal, so it follows no stray link. A wrong seal shows that the header was overwritten, for
// example because an allocator gave overlapping pages to two owners.
#pragma once

#include <cstddef>
#include <cstdint>

#include "simt/simt.hpp"

namespace allocbench {

// PageChain describes pages with records of type T.
template <class T>
struct PageChain {
  static_assert(alignof(T) <= 16, "allocators align to 16 bytes");

  struct alignas(16) Header {
    std::uint64_t before;  // address of the page before; 0: none
    std::uint32_t records;
    std::uint32_t seal;
  };

  // Returns the number of records that fit into a page.
  static constexpr std::uint32_t capacity(std::size_t page_bytes) {
    return static_cast<std::uint32_t>((page_bytes - sizeof(Header)) / sizeof(T));
  }

  static SIMT_FN Header* header(std::uint64_t page) { return reinterpret_cast<Header*>(page); }
  static SIMT_FN T* records(std::uint64_t page) { return reinterpret_cast<T*>(page + sizeof(Header)); }

  static SIMT_FN std::uint32_t seal(std::uint64_t page, std::uint64_t before, std::uint32_t records) {
    const std::uint64_t mixed = (page ^ (before << 20 | before >> 44)) * 0x9e3779b97f4a7c15u + records;
    return static_cast<std::uint32_t>(mixed ^ mixed >> 32);
  }
  // Writes the header of a page. No other thread may use this header at the same time.
  static SIMT_FN void write_header(std::uint64_t page, std::uint64_t before, std::uint32_t records) {
    *header(page) = {before, records, seal(page, before, records)};
  }

  // Calls visit(page, records) for the pages of a chain with `total` records, newest page first. visit() may free the
  // page. Returns false at the first wrong seal, at a wrong number of records, or if the chain ends too early.
  template <class Visit>
  static SIMT_FN bool for_each_page(std::uint64_t newest, std::uint64_t total, Visit&& visit) {
    std::uint64_t page = newest;
    std::uint64_t left = total;
    while (left != 0) {
      if (page == 0) return false;
      const Header found = *header(page);
      if (found.records == 0 || found.records > left) return false;
      if (found.seal != seal(page, found.before, found.records)) return false;
      visit(page, found.records);
      page = found.before;
      left -= found.records;
    }
    return true;
  }
};

}  // namespace allocbench
