// Space is the memory of a Comb and the words that describe it.
//
// The pool is an array of equal chunks, numbered from `first_chunk`. These arrays are outside the pool:
//
//   words      Each chunk has one word of 64 bits per 32 slots of 16 bytes: a tag in the upper half, one bit per slot
//              in the lower half (1 = taken). The tag is the class of the chunk or one of these values:
//                closed   All bits are 1. A warp that knows the chunk's class may open the word.
//                locked   All bits are 1. One thread owns the word, and only this thread may change it.
//              Words that a class does not need are closed.
//   in_use     Each chunk has one bit: 1 = taken. The thread that sets the bit owns the chunk.
//   table      Each chunk has an entry: free, its class, or its part in a run of chunks for a large request. Only the
//              owner of a chunk writes the entry, so the entry does not change while a block lives in the chunk.
//   directory  Each class has entries with chunk numbers, where a warp searches first. They are hints: an entry may
//              contain any chunk of any class at any time. The number of entries is a power of two.
//   members    Each class has a list of chunk numbers, as long as its part of the directory. A request searches the
//              list if its own word is full. The chunk numbers are hints, too.
//   barren     Each class has a bit per window of eight chunks: 1 = the last check found nothing for the class. The
//              bits are hints, too.
//   notes      Each class has, for each window, the ticket plus 1 of the last check that found nothing (scan.hpp).
//
// Chunk numbers 0 and 1 have no memory, and their words are closed forever. A directory entry of 0 is empty. An entry
// of 1 means that a request is fetching a chunk for it.
//
// A reset gives classes to the first chunks of the pool (`prepared`) and opens their words, as if requests of their
// sizes had been served and freed. So the requests that these chunks can serve fetch no chunk.
#pragma once

#include <algorithm>
#include <bit>
#include <string>

#include "allocators/comb/size_class.hpp"
#include "allocators/support/contract/allocator.hpp"

namespace allocbench::comb {

// Bug lists the errors that the bug zoo plants (tests/check/zoo/combs.hpp).
enum class Bug {
  none,
  unchecked_claim,     // a claim ignores the tag that it found
  partial_retirement,  // a chunk is retired although some of its words could not be locked
  late_class,          // the words of a retired chunk are closed before the table has its new class
  kept_guess           // a claim that finds another tag keeps the bits that it set
};

inline constexpr std::uint32_t no_chunk = 0;
inline constexpr std::uint32_t fetching = 1;  // in the directory or a list: the chunk of this entry is being fetched
inline constexpr std::uint32_t first_chunk = 2;

inline constexpr std::uint32_t closed = 0xffffffffu;
inline constexpr std::uint32_t locked = 0xfffffffeu;

SIMT_HOST_FN constexpr std::uint64_t tagged(std::uint32_t tag, std::uint32_t bits) {
  return std::uint64_t{tag} << 32 | bits;
}
SIMT_HOST_FN constexpr std::uint32_t tag_of(std::uint64_t word) { return static_cast<std::uint32_t>(word >> 32); }
SIMT_HOST_FN constexpr std::uint32_t bits_of(std::uint64_t word) { return static_cast<std::uint32_t>(word); }
inline constexpr std::uint64_t closed_word = tagged(closed, 0xffffffffu);
inline constexpr std::uint64_t unknown_word = tagged(0xfffffffdu, 0xffffffffu);  // never in memory
inline constexpr std::uint64_t locked_word = tagged(locked, 0xffffffffu);

// These are the entries of `table`.
inline constexpr std::uint32_t free_chunk = 0;
SIMT_HOST_FN constexpr std::uint32_t chunk_of_class(std::uint32_t size_class) { return size_class + 1; }
inline constexpr std::uint32_t last_class_entry = 255;
inline constexpr std::uint32_t inside_run = 0x40000000u;
inline constexpr std::uint32_t head_of_run = 0x80000000u;  // plus the number of chunks
SIMT_HOST_FN constexpr bool is_class(std::uint32_t entry) { return entry != free_chunk && entry <= last_class_entry; }

// Scans has the words that all scans of a class share (scan.hpp). A window is `window_chunks` neighbouring chunks.
struct Scans {
  std::uint64_t tickets;  // number of tickets taken: one for each scan, and one for each check of a window
  std::uint64_t vain;     // largest ticket of a scan that found nothing, plus 1
};
inline constexpr std::uint32_t window_chunks = 8;

// Empties is the shared state of the searches for empty chunks of other classes.
struct Empties {
  std::uint32_t next;   // step of the next search; the steps are the prepared chunks backwards, then the other chunks
  std::uint32_t vain;   // chunks checked since the last success
  std::uint32_t taken;  // empty chunks of other classes taken so far
};

inline constexpr std::uint64_t least_chunk_bytes = 256;
inline constexpr std::uint64_t most_chunk_bytes = 4 << 20;

inline constexpr std::uint64_t most_prepared = 65536;

struct Parameters {
  std::uint64_t chunk_bytes = 512 << 10;
  std::uint64_t least_chunks = 64;
  std::uint64_t prepared = 8;
  static auto fields() {
    return std::tuple{
        Field{"chunk_bytes", &Parameters::chunk_bytes, "B",
              "bytes of a chunk, which serves one size at a time; larger requests take several", "docs/comb.md"}
            .between(least_chunk_bytes, most_chunk_bytes)
            .powers_of_two(),
        Field{"least_chunks", &Parameters::least_chunks, "", "chunk_bytes is halved until the pool has so many chunks",
              "docs/comb.md"}
            .between(1, 65536),
        Field{"prepared", &Parameters::prepared, "",
              "a reset gives at most one chunk in so many, and at most half, to the classes, the same number to each; "
              "0 = none",
              "docs/comb.md"}
            .between(0, most_prepared)};
  }
};

template <Bug bug_>
struct Space {
  static constexpr Bug bug = bug_;
  // The shares of all warps of a grid together may use a 64th of the pool. They may use more if only one lane of a warp
  // requests a size (comb.hpp, `place_of`).
  static constexpr std::uint32_t pool_per_shares_log2 = 6;

  // This copy is in device memory, so that calls of the slow path pass one register pair instead of this struct.
  const Space* copy = nullptr;
  std::byte* base = nullptr;
  std::uint64_t* words = nullptr;
  std::uint32_t* in_use = nullptr;
  std::uint32_t* table = nullptr;
  std::uint32_t* directory = nullptr;
  Scans* scans = nullptr;
  std::uint32_t* barren = nullptr;
  std::uint64_t* notes = nullptr;
  std::uint32_t* members = nullptr;
  std::uint32_t* member_counts = nullptr;  // for each class: number of entries that were reserved in its list
  std::uint32_t* used = nullptr;           // chunks in use: decides whether to search for a free chunk
  Empties* empties = nullptr;
  std::uint32_t chunk_log2 = 0;
  std::uint32_t words_log2 = 0;  // log2 of the words of a chunk
  std::uint32_t chunks = 0;
  std::uint32_t directory_log2 = 0;  // log2 of the entries of a class
  std::uint32_t largest_slot = 0;    // bytes
  std::uint32_t batch = 1;           // chunks that a group fetches together
  std::uint32_t prepared = 0;        // the first chunks of the pool, to which a reset gives classes
  std::uint32_t prepared_per_class = 0;
  std::uint32_t class_part = 0;  // distance between the first preferred chunks of two neighbouring classes
  std::uint32_t own_chunks = 0;  // chunks behind the prepared ones that entries may prefer
  std::uint32_t own_mask = 0;    // smallest power of two that is at least own_chunks, minus 1
  std::uint32_t share_log2 = 0;  // log2 of the bytes of the pool for the shares of all warps of a grid
  std::uint32_t wide_log2 = 0;   // the same for shares of more than a word: the prepared chunks of a class

  SIMT_HOST_FN std::size_t chunk_bytes() const { return std::size_t{1} << chunk_log2; }
  SIMT_HOST_FN SizeClass size_class(std::uint32_t index) const { return {index, chunk_log2}; }
  SIMT_FN std::uint32_t word_number(std::uint32_t chunk, std::uint32_t word) const {
    return (chunk << words_log2) + word;
  }
  SIMT_FN std::uint32_t& entry(std::uint32_t size_class, std::uint32_t place) const {
    return directory[(size_class << directory_log2) + place];
  }
  SIMT_FN std::uint32_t& member(std::uint32_t size_class, std::uint32_t place) const {
    return members[(size_class << directory_log2) + (place & ((1u << directory_log2) - 1))];
  }
  SIMT_FN std::byte* chunk_begin(std::uint32_t chunk) const {
    return base + (std::size_t{chunk - first_chunk} << chunk_log2);
  }
  SIMT_FN void* block(std::uint32_t chunk, SizeClass size_class, std::uint32_t slot) const {
    return chunk_begin(chunk) + slot * size_class.slot_bytes();
  }
  SIMT_FN std::size_t offset_of(const void* block) const {
    return static_cast<std::size_t>(static_cast<const std::byte*>(block) - base);
  }
  SIMT_FN std::uint32_t chunk_at(std::size_t offset) const {
    return static_cast<std::uint32_t>(offset >> chunk_log2) + first_chunk;
  }

  // Returns the marks of 32 windows of a class: a bit is 1 if the last check of the window found nothing. Marks are
  // hints.
  SIMT_FN std::uint32_t& barren_windows(std::uint32_t size_class, std::uint32_t word) const {
    return barren[size_class * barren_words() + word];
  }
  // Returns the ticket plus 1 of the latest check of a window that found nothing for the class, or 0 if there is none.
  SIMT_FN std::uint64_t& note(std::uint32_t size_class, std::uint32_t window) const {
    return notes[std::size_t{size_class} * windows() + window];
  }

  SIMT_HOST_FN std::uint32_t map_words() const { return (chunks + 31) / 32; }
  SIMT_HOST_FN std::uint32_t barren_words() const { return (windows() + 31) / 32; }
  SIMT_HOST_FN std::uint32_t windows() const { return (chunks + window_chunks - 1) / window_chunks; }

  // ---- host ----
  std::size_t all_words() const { return std::size_t{chunks + first_chunk} << words_log2; }
  std::size_t all_barren() const { return std::size_t{SizeClass::count(chunk_log2)} * barren_words(); }
  std::size_t all_windows() const { return std::size_t{SizeClass::count(chunk_log2)} * windows(); }
  std::size_t all_entries() const { return std::size_t{SizeClass::count(chunk_log2)} << directory_log2; }

  static std::uint32_t chunk_log2_for(std::size_t pool_bytes, const Parameters& parameters) {
    std::uint64_t bytes = parameters.chunk_bytes;
    while (bytes > least_chunk_bytes && pool_bytes / bytes < parameters.least_chunks) bytes /= 2;
    return static_cast<std::uint32_t>(std::countr_zero(bytes));
  }

  static Space create(Arena& arena, const Parameters& parameters) {
    Space space;
    space.chunk_log2 = chunk_log2_for(arena.pool_bytes(), parameters);
    space.words_log2 = space.chunk_log2 > 9 ? space.chunk_log2 - 9 : 0;
    const std::size_t chunks = arena.pool_bytes() >> space.chunk_log2;
    if (chunks == 0 || chunks > most_chunks || (chunks + first_chunk) << space.words_log2 > 0xffffffffu) {
      throw Unsupported("comb needs a pool of 1 to " + std::to_string(most_chunks) + " chunks of " +
                        std::to_string(space.chunk_bytes()) + " bytes, and of at most 2 TiB");
    }
    space.chunks = static_cast<std::uint32_t>(chunks);
    space.directory_log2 = std::max(3u, static_cast<std::uint32_t>(std::bit_width(space.chunks - 1)));
    space.largest_slot = 1u << (space.chunk_log2 - 1);
    space.batch = std::bit_floor(std::clamp(space.chunks / 1024, 1u, 32u));
    const std::uint32_t classes = SizeClass::count(space.chunk_log2);
    if (parameters.prepared != 0) {
      // `share` and `prepared_per_class` are multiples of a batch, so entries of a batch prefer neighbouring chunks.
      const std::uint64_t one_in = std::max<std::uint64_t>(parameters.prepared, 2);  // some chunks must stay free for
                                                                                     // entries
      const auto share = static_cast<std::uint32_t>(space.chunks / one_in) & ~(space.batch - 1);
      space.prepared_per_class = std::max(share / classes & ~(space.batch - 1), space.batch);
      space.prepared = std::min(share, space.prepared_per_class * classes);
    }
    space.own_chunks = std::max((space.chunks - space.prepared) & ~(space.batch - 1), 1u);
    space.own_mask = std::bit_ceil(space.own_chunks) - 1;
    space.class_part = space.own_chunks / classes & ~(space.batch - 1);
    if (space.prepared != 0) {
      space.wide_log2 = space.chunk_log2 + static_cast<std::uint32_t>(std::bit_width(space.prepared_per_class)) - 1;
    }
    space.share_log2 = static_cast<std::uint32_t>(std::bit_width(arena.pool_bytes())) - 1 - pool_per_shares_log2;
    space.base = arena.pool().base;
    space.words = arena.metadata<std::uint64_t>(space.all_words());
    space.table = arena.metadata<std::uint32_t>(space.chunks + first_chunk);
    space.in_use = arena.metadata<std::uint32_t>(space.map_words());
    space.directory = arena.metadata<std::uint32_t>(space.all_entries());
    space.scans = arena.metadata<Scans>(SizeClass::count(space.chunk_log2));
    space.members = arena.metadata<std::uint32_t>(space.all_entries());
    space.member_counts = arena.metadata<std::uint32_t>(SizeClass::count(space.chunk_log2));
    space.used = arena.metadata<std::uint32_t>(1);
    space.empties = arena.metadata<Empties>(1);
    space.barren = arena.metadata<std::uint32_t>(space.all_barren());
    space.notes = arena.metadata<std::uint64_t>(space.all_windows());
    Space* const copy = arena.metadata<Space>(1);
    space.copy = copy;
    simt::copy_to_device(arena.stream(), copy, &space, sizeof space);
    space.reset(arena.stream());
    return space;
  }

  void reset(simt::Stream& stream) const {
    simt::device_fill(stream, words, 0xff, all_words() * sizeof *words);
    simt::device_fill(stream, table, 0, (chunks + first_chunk) * sizeof *table);
    simt::device_fill(stream, in_use, 0, map_words() * sizeof *in_use);
    simt::device_fill(stream, directory, 0, all_entries() * sizeof *directory);
    simt::device_fill(stream, scans, 0, SizeClass::count(chunk_log2) * sizeof *scans);
    simt::device_fill(stream, members, 0, all_entries() * sizeof *members);
    simt::device_fill(stream, member_counts, 0, SizeClass::count(chunk_log2) * sizeof *member_counts);
    simt::device_fill(stream, used, 0, sizeof *used);
    simt::device_fill(stream, empties, 0, sizeof *empties);
    simt::device_fill(stream, barren, 0, all_barren() * sizeof *barren);
    simt::device_fill(stream, notes, 0, all_windows() * sizeof *notes);
    if (prepared != 0) simt::launch(stream, {std::min(prepared, 4096u), 32}, Prepare{}, *this);
  }

  static constexpr std::uint64_t most_chunks = 1 << 24;

  // Prepare gives classes to the first chunks, except to those of the unused class. One warp serves each chunk.
  struct Prepare {
    template <class Thread>
    SIMT_FN void operator()(Thread& thread, Space space) const {
      for (std::uint32_t i = thread.block(); i < space.prepared; i += thread.block_count()) {
        const std::uint32_t chunk = first_chunk + i;
        const SizeClass size_class = space.size_class(i / space.prepared_per_class);
        if (size_class.unused()) continue;
        for (std::uint32_t word = thread.rank_in_block(); word < size_class.words(); word += thread.block_size()) {
          space.words[space.word_number(chunk, word)] = tagged(size_class.index, size_class.surplus(word));
        }
        if (thread.rank_in_block() != 0) continue;
        space.table[chunk] = chunk_of_class(size_class.index);
        const std::uint32_t place = i % space.prepared_per_class;
        space.entry(size_class.index, place) = chunk;
        space.member(size_class.index, place) = chunk;
        thread.atomic(space.in_use[i / 32]).fetch_or(1u << i % 32, simt::relaxed);
        thread.atomic(space.member_counts[size_class.index]).fetch_add(1u, simt::relaxed);
        thread.atomic(*space.used).fetch_add(1u, simt::relaxed);
      }
    }
  };
};

}  // namespace allocbench::comb
