// Checked<A> is the allocator A with verification of the contents of its blocks. Adaptors can be stacked on an
// allocator, like the adaptors of the RAPIDS Memory Manager (RMM).
//
// A malloc takes a tag from a ledger and fills the whole block with words derived from the tag. If the ledger has no
// tag left, the block stays as it is, and the report says so. A free compares all words, overwrites them with a dead
// pattern and passes the block on. Two owners of one word cannot both find their pattern. The first word of the block
// encodes the tag. Other records are in the ledger, outside the pool. So requests keep their size, and blocks of 4
// bytes can be checked. (With a header, a request of 8,192 bytes would exceed the limit of some designs.) Smaller
// requests are raised to 4 bytes. Requests for 0 bytes are raised only if the allocator gives them a block.
//
// Ordering: In C++ every free synchronises with the malloc that returns the memory again. Some published designs do not
// promise this, so no design is judged by this rule. The adaptor itself orders two owners by one word (`next_tag`), so
// no write of an earlier owner reaches the next owner's block. The race build finds missing orders inside an allocator.
//
// If the tag of a block is missing or dead, the block was already freed, or it was overwritten, or it got no tag. The
// adaptor reports the free instead of passing it on, so a caller's mistake does not corrupt the allocator. It passes on
// frees of blocks that begin outside the pool or not at a multiple of 4, and does not check these blocks.
//
// The functions are not inlined, because nothing here is timed, and the observed kernels of an allocator share one copy
// of A (workloads/support/contract/compiled_kernels.hpp makes them a simt::KernelFamily).
#pragma once

#include "allocators/support/adaptors/content_report.hpp"
#include "allocators/support/adaptors/session_adaptor.hpp"
#include "allocators/support/contract/allocator.hpp"

namespace allocbench {

// ContentLedger points to the memory where the adaptor keeps its records. The adaptor writes patterns only into blocks
// between `pool_begin` and `pool_end`. The host owns this object and passes it to kernels by value.
struct ContentLedger {
  ContentReport* report = nullptr;  // null: nothing is checked, and blocks are not written
  LedgerEntry* entries = nullptr;
  std::uint32_t capacity = 0;
  std::uint32_t alignment = 4;
  std::uint64_t pool_begin = 0;
  std::uint64_t pool_end = ~std::uint64_t{0};

  template <class Thread>
  SIMT_FN void blame(Thread& thread, ContentFault fault, const LedgerEntry& block, std::uint64_t offset,
                     std::uint32_t expected, std::uint32_t found) const {
    thread.atomic(report->counts[static_cast<std::uint32_t>(fault)]).fetch_add(1u, simt::relaxed);
    if (thread.atomic(report->first_claimed).exchange(1u, simt::relaxed) != 0) return;
    report->first.fault = fault;
    report->first.thread = thread.rank_in_grid();
    report->first.address = block.address;
    report->first.bytes = block.bytes;
    report->first.offset = offset;
    report->first.expected = expected;
    report->first.found = found;
  }

  // Enters a fresh block into the ledger and fills it. A block that is not inside the pool or not at a multiple of 4 is
  // reported as a fault instead. A block that only breaks `alignment` is reported, entered and filled.
  template <class Thread>
  SIMT_FN void adopt(Thread& thread, void* memory, std::uint64_t bytes) const {
    LedgerEntry block{reinterpret_cast<std::uint64_t>(memory), bytes, ledger_live, thread.rank_in_grid()};
    if (block.address < pool_begin || block.address > pool_end || pool_end - block.address < bytes) {
      blame(thread, ContentFault::out_of_bounds, block, 0, 0, 0);
      return;
    }
    if (block.address % alignment != 0) {
      blame(thread, ContentFault::misaligned, block, 0, 0, 0);
      if (block.address % 4 != 0) return;
    }
    const std::uint32_t tag = thread.atomic(report->next_tag).fetch_add(1u, simt::acq_rel);
    if (tag >= capacity) {
      thread.atomic(report->ledger_full).store(1u, simt::relaxed);
      return;
    }
    entries[tag].address = block.address;
    entries[tag].bytes = block.bytes;
    entries[tag].thread = block.thread;
    thread.atomic(entries[tag].state).store(ledger_live, simt::release);
    // An exchange stores the tag, so that of two owners of an address only the later one sees the other. Fresh memory
    // may look like any tag, so only a live entry with the same address proves another owner.
    std::uint32_t* words = static_cast<std::uint32_t*>(memory);
    const std::uint32_t before = thread.atomic(words[0]).exchange(content_word(tag, 0), simt::acq_rel);
    const std::uint32_t earlier = tag_of_word(before);
    if (earlier < capacity && earlier != tag && entries[earlier].address == block.address &&
        thread.atomic(entries[earlier].state).load(simt::acquire) == ledger_live) {
      blame(thread, ContentFault::double_hand_out, block, 0, 0, before);
    }
    write(words, 1, content_words(bytes), [tag](std::uint64_t word) { return content_word(tag, word); });
    unsigned char* tail = static_cast<unsigned char*>(memory) + content_words(bytes) * 4;
    for (std::uint64_t byte = 0; byte < bytes % 4; ++byte) tail[byte] = tail_byte(tag);
  }

  // Verifies a block, removes it from the ledger and overwrites it with the dead pattern. Call it before the
  // allocator's own free. Returns false if that free must not happen, because no live tag was found.
  template <class Thread>
  SIMT_FN bool retire(Thread& thread, void* memory) const {
    LedgerEntry block{reinterpret_cast<std::uint64_t>(memory), 0, ledger_unused, thread.rank_in_grid()};
    // adopt() has already reported blocks that begin outside the pool or not at a multiple of 4.
    if (block.address < pool_begin || block.address >= pool_end || block.address % 4 != 0) return true;
    std::uint32_t* words = static_cast<std::uint32_t*>(memory);
    const std::uint32_t tag = tag_of_word(words[0]);
    if (tag >= capacity || entries[tag].address != block.address) {
      // The tag is wrong, so the block was overwritten or already freed, or it got no tag.
      const bool dead = words[0] == dead_word;
      blame(thread, dead ? ContentFault::freed_twice : ContentFault::header_overwritten, block, 0, 0, words[0]);
      return false;
    }
    block.bytes = entries[tag].bytes;
    std::uint32_t state = ledger_live;
    if (!thread.atomic(entries[tag].state).compare_exchange(state, ledger_dead, simt::acq_rel, simt::relaxed)) {
      blame(thread, ContentFault::freed_twice, block, 0, words[0], words[0]);
      return false;
    }
    verify(thread, block, tag);
    write(words, 0, content_words(block.bytes), [](std::uint64_t) { return dead_word; });
    thread.atomic(report->next_tag).fetch_add(0u, simt::acq_rel);  // see Ordering above
    return true;
  }

 private:
  // Quad has the size that one instruction moves. Passes over large blocks spend most of their time in such moves.
  struct alignas(16) Quad {
    std::uint32_t words[4];
  };

  // Returns the first word of [begin, end) at which a quad can begin, or `end` if there is none.
  static SIMT_FN std::uint64_t words_before_quads(const std::uint32_t* words, std::uint64_t begin, std::uint64_t end) {
    const std::uint64_t first = (begin + 3) / 4 * 4;
    return reinterpret_cast<std::uint64_t>(words) % sizeof(Quad) != 0 || first > end ? end : first;
  }

  template <class WordAt>
  static SIMT_FN void write(std::uint32_t* words, std::uint64_t begin, std::uint64_t end, const WordAt& word_at) {
    std::uint64_t word = begin;
    for (const std::uint64_t quads = words_before_quads(words, begin, end); word < quads; ++word) {
      words[word] = word_at(word);
    }
    for (; word + 4 <= end; word += 4) {
      *reinterpret_cast<Quad*>(words +
                               word) = {{word_at(word), word_at(word + 1), word_at(word + 2), word_at(word + 3)}};
    }
    for (; word < end; ++word) words[word] = word_at(word);
  }

  // Returns the first word of [begin, end) that differs from word_at(word), or `end` if none differs.
  template <class WordAt>
  static SIMT_FN std::uint64_t first_other(const std::uint32_t* words, std::uint64_t begin, std::uint64_t end,
                                           const WordAt& word_at) {
    std::uint64_t word = begin;
    for (const std::uint64_t quads = words_before_quads(words, begin, end); word < quads; ++word) {
      if (words[word] != word_at(word)) return word;
    }
    for (; word + 4 <= end; word += 4) {
      const Quad found = *reinterpret_cast<const Quad*>(words + word);
      for (std::uint32_t i = 0; i < 4; ++i) {
        if (found.words[i] != word_at(word + i)) return word + i;
      }
    }
    for (; word < end && words[word] == word_at(word); ++word) {
    }
    return word;
  }

  static SIMT_FN unsigned char tail_byte(std::uint32_t tag) {
    return static_cast<unsigned char>(tag * 0x9e3779b9u >> 24 | 1u);
  }

  template <class Thread>
  SIMT_FN void verify(Thread& thread, const LedgerEntry& block, std::uint32_t tag) const {
    const std::uint32_t* words = reinterpret_cast<const std::uint32_t*>(block.address);
    const std::uint64_t end = content_words(block.bytes);
    const std::uint64_t other =
        first_other(words, 1, end, [tag](std::uint64_t word) { return content_word(tag, word); });
    if (other < end) {
      blame(thread, ContentFault::body_overwritten, block, other * 4, content_word(tag, other), words[other]);
      return;
    }
    const unsigned char* tail = reinterpret_cast<const unsigned char*>(words + end);
    for (std::uint64_t byte = 0; byte < block.bytes % 4; ++byte) {
      if (tail[byte] != tail_byte(tag)) {
        blame(thread, ContentFault::body_overwritten, block, end * 4 + byte, tail_byte(tag), tail[byte]);
        return;
      }
    }
  }
};

template <class Inner, ZeroBytes zero>
class CheckedSession : public SessionAdaptor<Inner> {
  using SessionAdaptor<Inner>::inner_;

 public:
  SIMT_FN CheckedSession(Inner inner, const ContentLedger& ledger)
      : SessionAdaptor<Inner>(static_cast<Inner&&>(inner)), ledger_(ledger) {}

  template <class Thread>
  SIMT_NOINLINE_FN void* malloc(Thread& thread, std::size_t bytes) {
    const bool checks = ledger_.report != nullptr && (bytes != 0 || zero == ZeroBytes::unique);
    if (checks && bytes < least_checked_bytes) bytes = least_checked_bytes;
    void* block = inner_.malloc(thread, bytes);
    if (checks && block != nullptr) ledger_.adopt(thread, block, bytes);
    return block;
  }
  template <class Thread>
  SIMT_NOINLINE_FN void free(Thread& thread, void* block) {
    if (block != nullptr && ledger_.report != nullptr && !ledger_.retire(thread, block)) return;
    inner_.free(thread, block);
  }

 private:
  ContentLedger ledger_;
};

template <class A>
class Checked {
 public:
  static constexpr Traits traits = A::traits;
  using Parameters = typename A::Parameters;

  Checked(const A& inner, const ContentLedger& ledger) : inner_(inner), ledger_(ledger) {}

  template <class Thread>
  SIMT_FN auto attach(Thread& thread) {
    using Inner = decltype(allocbench::attach(inner_, thread));
    return CheckedSession<Inner, traits.zero>(allocbench::attach(inner_, thread), ledger_);
  }

  const A& inner() const { return inner_; }
  const ContentLedger& ledger() const { return ledger_; }

 private:
  A inner_;
  ContentLedger ledger_;
};

}  // namespace allocbench
