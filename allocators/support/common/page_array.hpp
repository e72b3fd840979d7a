// PageArray treats a pool as an array of equal pages.
//
// The size of a page is a power of two, so a shift converts between a page and its address. The number of pages is
// arbitrary.
#pragma once

#include <string>
#include <string_view>

#include "allocators/support/common/request.hpp"
#include "allocators/support/contract/allocator.hpp"

namespace allocbench {

inline constexpr std::uint32_t no_page = 0xffffffffu;

struct PageArray {
  std::byte* base = nullptr;
  std::uint32_t count = 0;
  std::uint32_t shift = 0;  // log2 of the bytes of a page
  RequestLimit limit;       // largest request, one page

  SIMT_HOST_FN std::size_t bytes() const { return std::size_t{1} << shift; }
  SIMT_FN std::byte* address(std::uint32_t page) const { return base + (std::size_t{page} << shift); }
  SIMT_FN std::uint32_t page_of(const void* block) const {
    return static_cast<std::uint32_t>(static_cast<std::size_t>(static_cast<const std::byte*>(block) - base) >> shift);
  }

  // Divides the arena's pool into pages. The error message begins with `name`.
  static PageArray of_arena(Arena& arena, std::uint64_t page_bytes, std::string_view name) {
    const std::size_t count = arena.pool_bytes() / page_bytes;
    if (count == 0 || count > most_pages) {
      throw Unsupported(std::string(name) + " needs a pool of 1 to " + std::to_string(most_pages) + " pages of " +
                        std::to_string(page_bytes) + " bytes");
    }
    return {arena.pool().base, static_cast<std::uint32_t>(count), simt::count_trailing_zeros(page_bytes), {page_bytes}};
  }

 private:
  static constexpr std::size_t most_pages = std::size_t{1} << 31;
};

}  // namespace allocbench
