// These types are the chunk headers of the CMalloc family. They define the contents and the place of a header.
//
// A chunk is a run of 16-byte granules, and chunks form one circular list in address order. A header has a used flag
// and the granule index of the next chunk. Sizes are not stored (size = next - own index). The end marker at granule
// `granules` is always used, and its next is 0.
//
// There are three encodings. The first two are from Vinkler & Havran 2015:
// * TwoWordHeader: Flag and next have one word each (CMalloc, section 4.2).
// * FusedHeader: One word has the flag in bit 31 and next in bits 0-30 (CFMalloc, section 4.3).
// * SplitHeader: One 8-byte word has flag and next (reworked CMalloc and CMMalloc).
//
// A header lies in one of two places:
// * InPool: Headers lie in front of the chunk's payload, as published. After a merge, the absorbed header becomes
//   payload, and a walker that still holds its index may lock a word of user data.
// * SideTable: Headers lie outside the pool, one per granule. After a merge, the absorbed header stays "used" with a
//   forward next. So a walker that still holds its index passes through, and merging is safe.
//
// Only the holder of a chunk's lock changes its header, and the owner of a chunk in use holds its lock. Locking
// acquires. Every store that publishes a free chunk, a new header or a link releases. Offsets count granules, not bytes
// as in the paper, so words of the same size reach 64 GiB, or 32 GiB (fused).
#pragma once

#include "simt/simt.hpp"

namespace allocbench::circular {

inline constexpr std::uint32_t granule_log2 = 4;
inline constexpr std::uint32_t granule_bytes = 1u << granule_log2;

// LockResult is the result when a thread loads a header or tries to lock it. `won` means that the chunk is free, or
// that the caller has locked it. `next` is valid in either case.
struct LockResult {
  bool won;
  std::uint32_t next;
};

// TwoWordHeader is locked by a compare-exchange of the flag. `next` is always read separately.
struct TwoWordHeader {
  static constexpr std::uint64_t max_granules = 0xfffffffeu;
  static constexpr bool unlock_writes_next = false;

  std::uint32_t used;
  std::uint32_t next;

  template <class Thread>
  SIMT_FN LockResult try_lock(Thread& thread) {
    const bool won = try_set(thread);
    return {won, thread.atomic(next).load(simt::acquire)};
  }
  // Locks a chunk permanently if it is free, and only then reads its next. Returns whether the chunk was free.
  template <class Thread>
  SIMT_FN bool try_absorb(Thread& thread, std::uint32_t& its_next) {
    if (!try_set(thread)) return false;
    its_next = thread.atomic(next).load(simt::relaxed);
    return true;
  }
  template <class Thread>
  SIMT_FN void unlock(Thread& thread, std::uint32_t) {
    thread.atomic(used).store(0u, simt::release);
  }
  // The next three functions are for the header of a chunk that the caller owns. owned_next() returns its next. link()
  // sets a next that other threads may follow at once. lengthen() sets a next that they may follow after the unlock.
  template <class Thread>
  SIMT_FN std::uint32_t owned_next(Thread& thread) {
    return thread.atomic(next).load(simt::relaxed);
  }
  template <class Thread>
  SIMT_FN void link(Thread& thread, std::uint32_t new_next) {
    thread.atomic(next).store(new_next, simt::release);
  }
  template <class Thread>
  SIMT_FN void lengthen(Thread& thread, std::uint32_t new_next) {
    thread.atomic(next).store(new_next, simt::relaxed);
  }
  // Makes the header of a free chunk that no other thread can reach before it is linked.
  template <class Thread>
  SIMT_FN void create(Thread& thread, std::uint32_t its_next) {
    initialise(thread, its_next, false);
  }
  // Writes the header before any other thread can see it.
  template <class Thread>
  SIMT_FN void initialise(Thread& thread, std::uint32_t first_next, bool is_used) {
    thread.atomic(used).store(is_used ? 1u : 0u, simt::relaxed);
    thread.atomic(next).store(first_next, simt::relaxed);
  }
  // Returns the header's contents on the host while no kernel runs.
  LockResult decoded() const { return {used == 0, next}; }

 private:
  template <class Thread>
  SIMT_FN bool try_set(Thread& thread) {
    std::uint32_t expected = 0;
    return thread.atomic(used).compare_exchange(expected, 1u, simt::acquire, simt::relaxed);
  }
};

// OneWordHeader has one word: the bits of next, and the flag in a bit above them. An atomic OR locks the chunk and
// reads next.
template <class Word, Word used_flag, std::uint64_t most_granules>
struct OneWordHeader {
  static constexpr std::uint64_t max_granules = most_granules;
  static constexpr bool unlock_writes_next = true;

  Word word;

  // Reads the header without changing the lock. Walks of the reworked forms call this function to step over chunks.
  template <class Thread>
  SIMT_FN LockResult look(Thread& thread) {
    return decode(thread.atomic(word).load(simt::acquire));
  }
  template <class Thread>
  SIMT_FN LockResult try_lock(Thread& thread) {
    return decode(thread.atomic(word).fetch_or(used_flag, simt::acquire));
  }
  template <class Thread>
  SIMT_FN bool try_absorb(Thread& thread, std::uint32_t& its_next) {
    const LockResult result = try_lock(thread);
    if (result.won) its_next = result.next;
    return result.won;
  }
  template <class Thread>
  SIMT_FN void unlock(Thread& thread, std::uint32_t next) {
    thread.atomic(word).store(Word{next}, simt::release);
  }
  template <class Thread>
  SIMT_FN std::uint32_t owned_next(Thread& thread) {
    return decode(thread.atomic(word).load(simt::relaxed)).next;
  }
  template <class Thread>
  SIMT_FN void link(Thread& thread, std::uint32_t next) {
    thread.atomic(word).store(next | used_flag, simt::release);
  }
  // Does nothing, because unlock() writes next with the flag.
  template <class Thread>
  SIMT_FN void lengthen(Thread&, std::uint32_t) {}
  template <class Thread>
  SIMT_FN void create(Thread& thread, std::uint32_t its_next) {
    initialise(thread, its_next, false);
  }
  template <class Thread>
  SIMT_FN void initialise(Thread& thread, std::uint32_t next, bool is_used) {
    thread.atomic(word).store(is_used ? next | used_flag : Word{next}, simt::relaxed);
  }
  LockResult decoded() const { return decode(word); }

 private:
  SIMT_HOST_FN static LockResult decode(Word seen) {
    return {(seen & used_flag) == 0, static_cast<std::uint32_t>(seen & ~used_flag)};
  }
};

using SplitHeader = OneWordHeader<std::uint64_t, std::uint64_t{1} << 32, 0xfffffffeu>;
using FusedHeader = OneWordHeader<std::uint32_t, 0x80000000u, 0x7ffffffeu>;

// SideTable holds headers outside the pool. The payload of chunk i starts exactly at granule i.
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

// InPool holds headers in front of the payload. `base` is shifted so that payloads, not headers, are aligned to 16
// bytes. In the published layout, the addresses of payloads are 8 or 4 modulo 16.
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
