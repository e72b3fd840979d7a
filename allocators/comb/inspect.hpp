// These functions check the invariants of a Comb on the host while no kernel runs.
//
//   * Each word is closed, or open for the class of its chunk (words.hpp). No thread has locked a word.
//   * Only words that the class uses are open. The bits beyond the last slot are set in an open word.
//   * The bit of a chunk in `in_use` is set unless the chunk is free.
//   * Each run is complete: its first chunk has the number of chunks of the run, and the others follow it.
//   * Entries of the directory and of the lists of members are empty or contain chunks of the pool.
#pragma once

#include <vector>

#include "allocators/comb/space.hpp"
#include "allocators/support/contract/heap_usage.hpp"

namespace allocbench::comb {

template <class S>
class Inspection {
 public:
  Inspection(simt::Stream& stream, const S& space)
      : space_(space),
        words_(copy(stream, space.words, space.all_words())),
        in_use_(copy(stream, space.in_use, space.map_words())),
        table_(copy(stream, space.table, space.chunks + first_chunk)),
        directory_(copy(stream, space.directory, space.all_entries())),
        members_(copy(stream, space.members, space.all_entries())) {}

  // Returns the first broken invariant, or an empty text.
  std::string broken_invariant() const {
    for (std::uint32_t chunk = 0; chunk < table_.size(); ++chunk) {
      if (std::string broken = broken_words(chunk); !broken.empty()) return name(chunk) + broken;
      if (chunk < first_chunk) continue;
      const std::uint32_t i = chunk - first_chunk;
      if ((in_use_[i / 32] >> i % 32 & 1) != (table_[chunk] == free_chunk ? 0 : 1)) {
        return name(chunk) + " is in use by the map or by the table, but not by both";
      }
    }
    if (std::string broken = broken_run(); !broken.empty()) return broken;
    if (std::string broken = broken_hint("a directory entry", directory_); !broken.empty()) return broken;
    return broken_hint("a list of members", members_);
  }

  // Returns the number of chunks with this entry in the table.
  std::uint32_t chunks_with(std::uint32_t entry) const {
    return static_cast<std::uint32_t>(std::count(table_.begin() + first_chunk, table_.end(), entry));
  }
  // Returns the number of taken slots in all chunks that have a class.
  std::uint64_t taken_slots() const {
    std::uint64_t taken = 0;
    for (std::uint32_t chunk = first_chunk; chunk < table_.size(); ++chunk) {
      if (is_class(table_[chunk])) taken += taken_slots_of(chunk);
    }
    return taken;
  }

  HeapUsage usage() const {
    HeapUsage usage;
    std::uint32_t in_row = 0;  // chunks that a run may get: free chunks and empty chunks of classes
    std::uint32_t longest_row = 0;
    std::uint32_t largest_slot = 0;  // size of the largest free slot in a chunk of a class
    for (std::uint32_t chunk = first_chunk; chunk < table_.size(); ++chunk) {
      const std::uint32_t entry = table_[chunk];
      const SizeClass size_class = space_.size_class(is_class(entry) ? entry - 1 : 0);
      const std::uint32_t taken = is_class(entry) ? taken_slots_of(chunk) : 0;
      usage.blocks += taken + ((entry & head_of_run) != 0 ? 1 : 0);
      usage.bytes += std::uint64_t{taken} * size_class.slot_bytes();
      if ((entry & head_of_run) != 0) usage.bytes += std::uint64_t{entry & ~head_of_run} << space_.chunk_log2;
      const bool empty = entry == free_chunk || (is_class(entry) && taken == 0);
      in_row = empty ? in_row + 1 : 0;
      longest_row = std::max(longest_row, in_row);
      if (empty) usage.free_bytes += std::uint64_t{1} << space_.chunk_log2;
      if (is_class(entry) && taken < size_class.slots()) largest_slot = std::max(largest_slot, size_class.slot_bytes());
    }
    usage.largest_request = longest_row != 0 ? std::uint64_t{longest_row} << space_.chunk_log2 : largest_slot;
    return usage;
  }

 private:
  template <class T>
  static std::vector<T> copy(simt::Stream& stream, const T* from, std::size_t count) {
    std::vector<T> image(count);
    simt::copy_to_host(stream, image.data(), from, count * sizeof(T));
    return image;
  }

  static std::string name(std::uint32_t chunk) { return "chunk " + std::to_string(chunk); }
  std::uint64_t word_at(std::uint32_t chunk, std::uint32_t index) const {
    return words_[(std::size_t{chunk} << space_.words_log2) + index];
  }

  // Returns the number of taken slots in a chunk that has a class.
  std::uint32_t taken_slots_of(std::uint32_t chunk) const {
    const SizeClass size_class = space_.size_class(table_[chunk] - 1);
    std::uint32_t taken = 0;
    for (std::uint32_t i = 0; i < size_class.words(); ++i) {
      const std::uint64_t word = word_at(chunk, i);
      if (tag_of(word) == size_class.index) taken += simt::popcount(bits_of(word) & ~size_class.surplus(i));
    }
    return taken;
  }

  std::string broken_words(std::uint32_t chunk) const {
    const std::uint32_t entry = table_[chunk];
    const SizeClass size_class = space_.size_class(is_class(entry) ? entry - 1 : 0);
    const std::uint32_t words = is_class(entry) ? size_class.words() : 0;
    for (std::uint32_t i = 0; i < 1u << space_.words_log2; ++i) {
      const std::uint64_t word = word_at(chunk, i);
      const std::string where = ", word " + std::to_string(i);
      if (word == closed_word) continue;
      if (tag_of(word) == locked) return where + " is still locked";
      if (i >= words) return where + " is open although the chunk does not need it";
      if (tag_of(word) != size_class.index) {
        return where + " has tag " + std::to_string(tag_of(word)) + " in a chunk of class " +
               std::to_string(size_class.index);
      }
      if ((size_class.surplus(i) & ~bits_of(word)) != 0) return where + " offers slots beyond the end of the chunk";
    }
    return {};
  }

  std::string broken_hint(const std::string& what, const std::vector<std::uint32_t>& hints) const {
    for (const std::uint32_t entry : hints) {
      if (entry == fetching) return what + " waits for a chunk that nobody fetches";
      if (entry >= table_.size()) return what + " names " + name(entry) + ", which does not exist";
    }
    return {};
  }

  std::string broken_run() const {
    for (std::uint32_t chunk = first_chunk; chunk < table_.size(); ++chunk) {
      if (table_[chunk] == inside_run) return name(chunk) + " belongs to a run that has no head";
      if ((table_[chunk] & head_of_run) == 0) continue;
      const std::uint32_t end = chunk + (table_[chunk] & ~head_of_run);
      if (end > table_.size() || end == chunk) return name(chunk) + " begins a run beyond the end of the pool";
      for (++chunk; chunk < end; ++chunk) {
        if (table_[chunk] != inside_run) return name(chunk) + " should be inside of a run";
      }
      --chunk;
    }
    return {};
  }

  const S& space_;
  std::vector<std::uint64_t> words_;
  std::vector<std::uint32_t> in_use_;
  std::vector<std::uint32_t> table_;
  std::vector<std::uint32_t> directory_;
  std::vector<std::uint32_t> members_;
};

}  // namespace allocbench::comb
