// Requests of more than a segment get runs of free segments (McCoy & Pandey 2024; protocol of the public code).
//
// A lock admits one request at a time. The request searches the bottom words of the tree of free segments backwards
// from the last one. Only a run that contains the lowest segment of a word counts; it may extend into lower words. The
// first word is never searched. So a run within one word must begin at the word's lowest segment, and a pool of at most
// `fanout` segments serves no run. A request that takes a run changes only the bottom layer. The upper layers are
// hints, so they may be out of date.
#pragma once

#include "allocators/gallatin/blocks.hpp"

namespace allocbench::gallatin {

template <class Thread>
class RunSearch {
 public:
  SIMT_FN RunSearch(Thread& thread, const BitTree& tree)
      : thread_(thread), tree_(tree), words_(tree.words), log2_(tree.shape.fanout_log2) {}

  // Takes `count` free segments in a row and returns the first one. Returns no_segment if it finds no such run.
  SIMT_FN std::uint32_t claim(std::uint32_t count) const {
    for (std::uint32_t word = tree_.shape.nodes_for(tree_.shape.members) - 1; word != 0; --word) {
      const std::uint32_t begin = begin_of_run(word, count);
      if (begin == no_segment) continue;
      const std::uint32_t claimed = claim_from(begin, count);
      if (claimed == count) return begin;
      give_back(begin, claimed);
    }
    return no_segment;
  }

  SIMT_FN void give_back(std::uint32_t begin, std::uint32_t count) const {
    for_words(begin, count, [&](std::uint32_t word, std::uint64_t bits) {
      if (thread_.atomic(words_[word]).fetch_or(bits, simt::acq_rel) == 0) tree_.insert_above(thread_, 0, word);
      return true;
    });
  }

 private:
  SIMT_FN std::uint32_t mask() const { return (1u << log2_) - 1; }

  SIMT_FN std::uint64_t load(std::uint32_t word) const { return thread_.atomic(words_[word]).load(simt::relaxed); }

  // Returns the first segment of a run of `count` free segments that contains the lowest segment of `word`, or
  // no_segment.
  SIMT_FN std::uint32_t begin_of_run(std::uint32_t word, std::uint32_t count) const {
    const std::uint32_t width = mask() + 1;
    const std::uint64_t used = ~load(word);
    const std::uint32_t low = used == 0 ? width : simt::count_trailing_zeros(used);
    if (low == 0) return no_segment;
    std::uint32_t begin = word << log2_;
    if (low >= count) return begin;
    const std::uint32_t end = begin + low;
    while (end - begin < count && --word != 0) {
      const std::uint64_t used_below = ~load(word) << (63 - mask());
      const std::uint32_t high = used_below == 0 ? width : simt::count_leading_zeros(used_below);
      begin -= high;
      if (high != width) break;
    }
    return end - begin < count ? no_segment : end - count;
  }

  // Takes the segments word by word, up to the first word in which one of them is used. Returns how many it took.
  SIMT_FN std::uint32_t claim_from(std::uint32_t begin, std::uint32_t count) const {
    std::uint32_t claimed = 0;
    for_words(begin, count, [&](std::uint32_t word, std::uint64_t bits) {
      const std::uint64_t before = thread_.atomic(words_[word]).fetch_and(~bits, simt::acq_rel);
      if ((before & bits) != bits) {
        thread_.atomic(words_[word]).fetch_or(before & bits, simt::acq_rel);
        return false;
      }
      claimed += simt::popcount(bits);
      return true;
    });
    return claimed;
  }

  template <class Visit>
  SIMT_FN void for_words(std::uint32_t begin, std::uint32_t count, const Visit& visit) const {
    while (count != 0) {
      const std::uint32_t bit = begin & mask();
      const std::uint32_t here = mask() + 1 - bit < count ? mask() + 1 - bit : count;
      if (!visit(begin >> log2_, ~std::uint64_t{0} >> (64 - here) << bit)) return;
      begin += here;
      count -= here;
    }
  }

  Thread& thread_;
  BitTree tree_;
  std::uint64_t* words_;
  std::uint32_t log2_;
};

template <class Thread>
SIMT_NOINLINE_FN void* take_run(Thread& thread, const Heap& heap, std::uint64_t bytes) {
  const auto count =
      static_cast<std::uint32_t>((bytes + (std::uint64_t{1} << heap.segment_log2) - 1) >> heap.segment_log2);
  const RunSearch<Thread> search(thread, heap.free_segments());
  while (!lock_class(thread, heap, heap.classes)) thread.spin_hint();
  const std::uint32_t begin = search.claim(count);
  if (begin != no_segment) {
    std::uint32_t expected = free_id;
    if (!thread.atomic(heap.ids[begin])
             .compare_exchange(expected, first_run_id + count, simt::acq_rel, simt::relaxed)) {
      thread.trap();  // the trap is as published
    }
  }
  unlock_class(thread, heap, heap.classes);
  return begin == no_segment ? nullptr : heap.segment_begin(begin);
}

template <class Thread>
SIMT_NOINLINE_FN void free_run(Thread& thread, const Heap& heap, std::uint32_t segment, std::uint32_t id) {
  const RunSearch<Thread> search(thread, heap.free_segments());
  const auto word = thread.atomic(heap.ids[segment]);
  if (heap.parameters.reset_class_first) word.store(free_id, simt::release);
  search.give_back(segment, id - first_run_id);
  if (!heap.parameters.reset_class_first) word.store(free_id, simt::release);
}

}  // namespace allocbench::gallatin
