// ChunkSpace divides the pool into equal chunks, with a table of header words behind them, and defines the sizes of
// pages.
//
// A used chunk holds pages of one class, or it is storage of a queue. Class i has pages of 16 << i bytes, up to a whole
// chunk. The header word of a chunk of pages has the class in bits 0-7; in chunk-based variants, bits 8-31 have the
// number of free pages. The header word of queue storage counts the slots that have been emptied since the chunk became
// storage.
//
// In the published layout, every chunk has a header of 128 bytes in front of it. This layout has no such headers. Each
// chunk and page begins at a multiple of its size from the start of the pool, so a shift of an offset in the pool gives
// the chunk. To find the class, a free reads one word of a dense table.
#pragma once

#include "allocators/ouroboros/chunk_pool.hpp"
#include "allocators/support/common/request.hpp"

namespace allocbench::ouroboros {

inline constexpr std::uint32_t smallest_page_log = 4;

// Returns the class with the smallest pages that hold `bytes`.
SIMT_HOST_FN std::uint32_t class_of(std::uint32_t bytes) {
  return log2_of(bytes, smallest_page_log) - smallest_page_log;
}

struct Header {
  static constexpr std::uint32_t one_page = 1u << 8;

  static SIMT_HOST_FN std::uint32_t of(std::uint32_t id, std::uint32_t free_pages) {
    return id | free_pages * one_page;
  }
  static SIMT_HOST_FN std::uint32_t id(std::uint32_t header) { return header & (one_page - 1); }
  static SIMT_HOST_FN std::uint32_t free_pages(std::uint32_t header) { return header >> 8; }
};

struct ChunkSpace {
  ChunkPool pool;
  std::byte* base = nullptr;  // address of chunk 0
  std::uint32_t* headers = nullptr;
  std::uint32_t chunk_log = 0;  // log2 of the bytes of a chunk

  SIMT_HOST_FN std::uint32_t class_count() const { return chunk_log - smallest_page_log + 1; }
  SIMT_HOST_FN std::uint32_t pages_log(std::uint32_t id) const { return chunk_log - smallest_page_log - id; }
  SIMT_FN std::byte* chunk(std::uint32_t index) const { return base + (std::size_t{index} << chunk_log); }
  SIMT_FN std::byte* page(std::uint32_t chunk_index, std::uint32_t page_index, std::uint32_t id) const {
    return chunk(chunk_index) + (std::size_t{page_index} << (id + smallest_page_log));
  }
  SIMT_FN std::uint32_t* slots(std::uint32_t index) const { return reinterpret_cast<std::uint32_t*>(chunk(index)); }
};

// RingLayout places one ring per class in a table, one after the other. The sizes are powers of two. Classes 0 to
// `whole_classes` have 2^log entries each, and each later class has half as many as the previous one.
struct RingLayout {
  std::uint32_t log = 0;
  std::uint32_t whole_classes = 0;

  SIMT_HOST_FN std::uint32_t capacity(std::uint32_t id) const {
    return id <= whole_classes ? 1u << log : (1u << log) >> (id - whole_classes);
  }
  SIMT_HOST_FN std::uint64_t begin(std::uint32_t id) const {
    if (id <= whole_classes) return std::uint64_t{id} << log;
    const std::uint64_t two_rings = std::uint64_t{2} << log;
    return (std::uint64_t{whole_classes} << log) + two_rings - (two_rings >> (id - whole_classes));
  }
};

}  // namespace allocbench::ouroboros
