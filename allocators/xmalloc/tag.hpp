// Tag is the type tag of XMalloc: the four bytes before every user pointer give the type of its block.
//
// Paper: Huang et al., CIT 2010, section V-B. The owner of the memory writes the tag, and the thread that frees the
// memory reads it.
#pragma once

#include "simt/simt.hpp"

namespace allocbench::xmalloc {

struct Tag {
  enum Type : std::uint32_t { untyped, piece, basic, whole };
  static constexpr std::uint32_t alone = 63;  // index of a Basicblock without Superblock

  std::uint32_t word;

  static SIMT_FN Tag of_piece(std::uint32_t units_to_parent) { return {piece << 30 | units_to_parent}; }
  static SIMT_FN Tag of_basic(std::uint32_t size_class, std::uint32_t index) {
    return {basic << 30 | size_class << 8 | index};
  }
  static SIMT_FN Tag of_whole(std::uint32_t units = 0) { return {whole << 30 | units}; }

  SIMT_FN std::uint32_t type() const { return word >> 30; }
  // Returns a number of units of 16 bytes: for a piece, the distance from the start of its parent; for a Memoryblock,
  // its size, or 0 if it must not be kept.
  SIMT_FN std::uint32_t units() const { return word & 0x3fffffffu; }
  SIMT_FN std::uint32_t size_class() const { return word >> 8 & 0xff; }
  SIMT_FN std::uint32_t index() const { return word & 0xff; }

  static SIMT_FN std::uint32_t& before(std::byte* memory) { return reinterpret_cast<std::uint32_t*>(memory)[-1]; }
  template <class Thread>
  static SIMT_FN Tag read(Thread& thread, std::byte* memory) {
    return {thread.atomic(before(memory)).load(simt::relaxed)};
  }
  template <class Thread>
  SIMT_FN void write(Thread& thread, std::byte* memory) const {
    thread.atomic(before(memory)).store(word, simt::relaxed);
  }
};

}  // namespace allocbench::xmalloc
