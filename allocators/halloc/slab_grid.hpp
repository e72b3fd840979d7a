// SlabGrid finds the slab of an address, as Halloc's slab grid does.
//
// Adinetz & Pleiter 2014, "Slab Grid". The grid has a word (a cell) for each range of addresses as long as a slab.
// Slabs need not begin where a range begins, so a cell has the numbers of two slabs and the cut-off, where the second
// one begins. Bit 0 marks a valid cell. Bits 13-25 are the first slab, bits 26-38 the second slab, and bits 39-58 the
// cut-off in units of 16 bytes. Here slabs are adjacent in one pool, and ranges begin at slabs, so the cut-off is 0.
#pragma once

#include "simt/simt.hpp"

namespace allocbench::halloc {

struct SlabGrid {
  static constexpr std::uint32_t most_slabs = (1u << 13) - 1;

  const std::uint64_t* cells = nullptr;  // never written by malloc and free
  std::uint32_t count = 0;
  std::uint32_t shift = 22;

  SIMT_HOST_FN static std::uint64_t cell(std::uint32_t first, std::uint32_t second, std::uint32_t cut_off) {
    return std::uint64_t{1} | std::uint64_t{first} << 13 | std::uint64_t{second} << 26 | std::uint64_t{cut_off} << 39;
  }

  // Finds the slab of an address. Returns false for addresses in no slab. `offset` is counted from the first cell.
  SIMT_FN bool find(std::uint64_t offset, std::uint32_t& slab) const {
    const std::uint64_t index = offset >> shift;  // the index is huge for addresses below the grid
    if (index >= count) return false;
    const std::uint64_t word = cells[index];
    const auto in_cell = static_cast<std::uint32_t>(offset) & ((1u << shift) - 1);
    const std::uint32_t cut_off = static_cast<std::uint32_t>(word >> 39 & 0xfffff) << 4;
    slab = static_cast<std::uint32_t>(word >> (in_cell < cut_off ? 13 : 26)) & most_slabs;
    return (word & 1) != 0;
  }
};

}  // namespace allocbench::halloc
