// Chunk headers of the CMalloc family: what a header says, and where it lies.
//
// A chunk is a run of 16-byte granules; chunks form one circular list in address order. A header holds a used flag and
// the granule index of the next chunk; sizes are not stored (size = next - this). The end marker at granule `granules`
// is always used and its next is 0.
//
// Two encodings (Vinkler & Havran 2015):
//   SplitHeader  two 4-byte words, flag and next (CMalloc, section 4.2)
//   FusedHeader  one word, bit 31 = used, bits 0-30 = next (CFMalloc, section 4.3)
// Two places:
//   SideTable    one header per granule, outside the pool. After a merge the absorbed header stays "used" with a
//                forward next, so a walker that still holds its index passes through: merging is safe.
//   InPool       in front of the chunk's payload, as published. After a merge the absorbed header becomes payload,
//                and a late walker may lock a word of user data.
//
// Only the holder of a chunk's lock writes its header, and a chunk in use is a held lock. Locking acquires; every store
// that publishes a free chunk, a new header or a link releases. Offsets count granules instead of the published bytes,
// so the same words reach 64 GiB (split) or 32 GiB (fused).
#pragma once

#include "simt/simt.hpp"

namespace allocbench::circular {

inline constexpr std::uint32_t granule_log2 = 4;
inline constexpr std::uint32_t granule_bytes = 1u << granule_log2;

// Result of a look at a header (`won`: the chunk was free) or of an attempt to lock it (`won`: the caller owns it now).
// `next` is valid in either case.
struct LockResult {
  bool won;
  std::uint32_t next;
};

// Flag and next are read and written as one 8-byte word, so that locking a chunk also reads its next.
struct SplitHeader {
  static constexpr std::uint64_t max_granules = 0xfffffffeu;
  static constexpr std::uint64_t used_flag = std::uint64_t{1} << 32;

  std::uint64_t flag_and_next;

  // Without touching the lock; the walk steps over chunks with it.
  template <class Thread>
  SIMT_FN LockResult look(Thread& thread) {
    return decode(thread.atomic(flag_and_next).load(simt::acquire));
  }
  template <class Thread>
  SIMT_FN LockResult try_lock(Thread& thread) {
    return decode(thread.atomic(flag_and_next).fetch_or(used_flag, simt::acquire));
  }
  template <class Thread>
  SIMT_FN void unlock(Thread& thread, std::uint32_t next) {
    thread.atomic(flag_and_next).store(next, simt::release);
  }
  // For the header of a chunk that the caller owns. owned_next() reads its next, publish_free() makes it free with this
  // next, link() keeps it owned with this next.
  template <class Thread>
  SIMT_FN std::uint32_t owned_next(Thread& thread) {
    return decode(thread.atomic(flag_and_next).load(simt::relaxed)).next;
  }
  template <class Thread>
  SIMT_FN void publish_free(Thread& thread, std::uint32_t next) {
    thread.atomic(flag_and_next).store(next, simt::release);
  }
  template <class Thread>
  SIMT_FN void link(Thread& thread, std::uint32_t next) {
    thread.atomic(flag_and_next).store(next | used_flag, simt::release);
  }
  // Before any other thread can see the header.
  template <class Thread>
  SIMT_FN void initialise(Thread& thread, std::uint32_t next, bool used) {
    thread.atomic(flag_and_next).store(used ? next | used_flag : next, simt::relaxed);
  }
  // For the host, when no kernel runs.
  LockResult decoded() const { return decode(flag_and_next); }

 private:
  SIMT_HOST_FN static LockResult decode(std::uint64_t word) {
    return {(word & used_flag) == 0, static_cast<std::uint32_t>(word)};
  }
};

struct FusedHeader {
  static constexpr std::uint64_t max_granules = 0x7ffffffeu;
  static constexpr std::uint32_t used_bit = 0x80000000u;

  std::uint32_t word;

  template <class Thread>
  SIMT_FN LockResult look(Thread& thread) {
    return decode(thread.atomic(word).load(simt::acquire));
  }
  template <class Thread>
  SIMT_FN LockResult try_lock(Thread& thread) {
    return decode(thread.atomic(word).fetch_or(used_bit, simt::acquire));
  }
  template <class Thread>
  SIMT_FN void unlock(Thread& thread, std::uint32_t next) {
    thread.atomic(word).store(next, simt::release);
  }
  template <class Thread>
  SIMT_FN std::uint32_t owned_next(Thread& thread) {
    return thread.atomic(word).load(simt::relaxed) & ~used_bit;
  }
  template <class Thread>
  SIMT_FN void publish_free(Thread& thread, std::uint32_t new_next) {
    thread.atomic(word).store(new_next, simt::release);
  }
  template <class Thread>
  SIMT_FN void link(Thread& thread, std::uint32_t new_next) {
    thread.atomic(word).store(new_next | used_bit, simt::release);
  }
  template <class Thread>
  SIMT_FN void initialise(Thread& thread, std::uint32_t first_next, bool is_used) {
    thread.atomic(word).store(is_used ? first_next | used_bit : first_next, simt::relaxed);
  }
  LockResult decoded() const { return decode(word); }

 private:
  SIMT_HOST_FN static LockResult decode(std::uint32_t seen) { return {(seen & used_bit) == 0, seen & ~used_bit}; }
};

// Headers outside the pool; chunk i's payload starts exactly at granule i.
template <class Header>
struct SideTable {
  static constexpr std::uint32_t header_bytes_in_pool = 0;
  Header* table = nullptr;
  std::byte* base = nullptr;

  SIMT_HOST_FN Header& header(std::uint32_t chunk) const { return table[chunk]; }
  SIMT_FN std::byte* payload(std::uint32_t chunk) const { return base + std::size_t{chunk} * granule_bytes; }
  SIMT_FN std::uint32_t chunk_of(const void* payload) const {
    return static_cast<std::uint32_t>(static_cast<std::size_t>(static_cast<const std::byte*>(payload) - base) /
                                      granule_bytes);
  }
};

// Headers in front of the payload. `base` is shifted so that payloads, not headers, are 16-byte aligned; the published
// layout returned pointers that are 8 or 4 modulo 16.
template <class Header>
struct InPool {
  static constexpr std::uint32_t header_bytes_in_pool = sizeof(Header);
  std::byte* base = nullptr;

  SIMT_HOST_FN Header& header(std::uint32_t chunk) const {
    return *reinterpret_cast<Header*>(base + std::size_t{chunk} * granule_bytes);
  }
  SIMT_FN std::byte* payload(std::uint32_t chunk) const {
    return base + std::size_t{chunk} * granule_bytes + sizeof(Header);
  }
  SIMT_FN std::uint32_t chunk_of(const void* payload) const {
    return static_cast<std::uint32_t>(
        static_cast<std::size_t>(static_cast<const std::byte*>(payload) - sizeof(Header) - base) / granule_bytes);
  }
};

}  // namespace allocbench::circular
