// PageList is a list of pages to which all threads append records. The pages come from any allocator of the suite.
//
// Paper: Pham et al. 2025, appendix C (the buckets of the group-by). A thread appends to the last page of a list. If
// the list has no page, or its last page is full, the thread requests a page and appends this page.
//
// Idea: One word per list holds the last page and the number of its places that are taken. A fetch-add of this word
// reserves places and returns the first of them. The lanes of a warp that append to the same list reserve together.
//
// Data: A Tail {word, pages, records} is in global or shared memory. The word has 44 bits for the address of the page
// divided by 16, and 20 bits for the places. The word of an empty list stands for a full page at address 0. Pages have
// the format of page_chain.hpp. Before a page is published, its header states that the page is full. finish() corrects
// the header of the last page.
//
// Protocol: In each page, at most one reservation begins inside the page or at its end and needs more places than are
// left. The owner of this reservation is the leader of a group of lanes. The leader requests the next page, links it
// and publishes it with release. The group uses the last places of the old page and the first places of the new page.
// Reservations use acquire. The fetch-adds of a word form a release sequence.
//
// A lane reserves nothing if more places are taken than the page has. It does not wait for the next page, because the
// lane that requests this page may be in its own warp. It stays pending until all lanes of the warp meet again. Then
// the leader of its group loads the word before the addition. So the taken places exceed the page's places by at most
// one per lane. Their number must stay below 2^19, because larger numbers mean that a malloc has failed. A lane that
// calls malloc waits for no lane of the list. A warp waits only for another warp's malloc, so every append ends. The
// word can get an old value again only if its page is freed and reused. This does not happen while lanes append (no
// ABA).
//
// When the allocator returns null, the owner of the reservation marks the word. Lanes that see the mark drop their
// records. The list keeps its pages.
#pragma once

#include "containers/page_chain.hpp"

namespace allocbench {

template <class T, simt::Space space>
class PageList {
 public:
  using Chain = PageChain<T>;

  struct Tail {
    std::uint64_t word;
    std::uint32_t pages;
    std::uint32_t records;  // number of records, set by finish()
  };

  // Each page has `page_bytes` bytes and at most 2^18 records.
  SIMT_HOST_FN explicit PageList(std::size_t page_bytes)
      : page_bytes_(page_bytes), capacity_(Chain::capacity(page_bytes)) {}

  SIMT_HOST_FN std::uint32_t capacity() const { return capacity_; }

  // Makes the list empty and frees no page. No other thread may use the list at the same time.
  template <class Thread>
  SIMT_FN void clear(Thread& thread, Tail& tail) const {
    at(thread, tail.word).store(std::uint64_t{capacity_} << address_bits, simt::relaxed);
    at(thread, tail.pages).store(0u, simt::relaxed);
  }

  // Appends the record of each lane whose `wants` is true to the list of this lane. Every lane of the warp that has not
  // exited must take part in the call. Returns false for a lane whose record got no place. The lane that appended a
  // page calls on_page(page).
  template <class Thread, class Session, class OnPage>
  SIMT_FN bool append(Thread& thread, Session& session, bool wants, Tail* tail, const T& record,
                      OnPage&& on_page) const {
    const auto warp = thread.warp();
    bool pending = wants;
    bool stored = true;
    while (warp.any(pending)) {
      const auto waiting = warp.partition(pending);
      if (!pending) continue;
      const auto peers = waiting.match_any(reinterpret_cast<std::uint64_t>(tail));
      const std::uint32_t rank = peers.thread_rank();
      const std::uint32_t places = peers.num_threads() < capacity_ ? peers.num_threads() : capacity_;
      Reservation mine{};
      if (rank == 0) mine = reserve(thread, session, *tail, places, on_page);
      const std::uint64_t word = peers.broadcast(mine.word);
      const std::uint64_t fresh = peers.broadcast(mine.fresh);
      peers.sync();  // the leader has acquired the page; the other lanes get it from the leader
      if (rank >= places) continue;
      if (fresh == wait) {
        thread.spin_hint();
        continue;
      }
      pending = false;
      const std::uint32_t place = taken(word) + rank;
      if (place < capacity_) {
        Chain::records(page(word))[place] = record;
      } else if (fresh != 0) {
        Chain::records(fresh)[place - capacity_] = record;
      } else {
        stored = false;
      }
    }
    return stored;
  }

  // Writes the header of the last page and stores the number of records. One thread calls finish() after the last
  // append. Returns the address of the newest page, or 0 if the list is empty.
  template <class Thread>
  SIMT_FN std::uint64_t finish(Thread& thread, Tail& tail) const {
    const std::uint64_t word = at(thread, tail.word).load(simt::acquire);
    const std::uint32_t pages = at(thread, tail.pages).load(simt::relaxed);
    const std::uint32_t last = taken(word) < capacity_ ? taken(word) : capacity_;
    tail.records = pages == 0 ? 0 : (pages - 1) * capacity_ + last;
    if (pages != 0) Chain::write_header(page(word), Chain::header(page(word))->before, last);
    return page(word);
  }

 private:
  static constexpr std::uint32_t address_bits = 44;
  static constexpr std::uint32_t out_of_memory = 1u << 19;  // mark, stored among the places
  static constexpr std::uint64_t wait = 1;                  // a value that is not an address

  // Reservation is the result of a leader: the word that it found, and the new page for the places beyond the end of
  // the old page. `fresh` is 0 if there is no new page, or `wait` if nothing was reserved.
  struct Reservation {
    std::uint64_t word;
    std::uint64_t fresh;
  };

  static SIMT_FN std::uint32_t taken(std::uint64_t word) { return static_cast<std::uint32_t>(word >> address_bits); }
  static SIMT_FN std::uint64_t page(std::uint64_t word) {
    return (word & ((std::uint64_t{1} << address_bits) - 1)) << 4;
  }
  static SIMT_FN std::uint64_t word_of(std::uint64_t page, std::uint32_t taken) {
    return page >> 4 | std::uint64_t{taken} << address_bits;
  }

  template <class Thread, class Word>
  static SIMT_FN auto at(Thread& thread, Word& word) {
    if constexpr (space == simt::Space::shared) {
      return thread.atomic_shared(word);
    } else {
      return thread.atomic(word);
    }
  }

  template <class Thread, class Session, class OnPage>
  SIMT_FN Reservation reserve(Thread& thread, Session& session, Tail& tail, std::uint32_t places,
                              OnPage&& on_page) const {
    const auto word = at(thread, tail.word);
    std::uint64_t found = word.load(simt::relaxed);
    if (taken(found) <= capacity_) found = word.fetch_add(std::uint64_t{places} << address_bits, simt::acquire);
    if (taken(found) >= out_of_memory) return {found, 0};
    if (taken(found) > capacity_) return {found, wait};
    if (taken(found) + places <= capacity_) return {found, 0};

    const std::uint32_t left = taken(found) + places - capacity_;
    const auto fresh = reinterpret_cast<std::uint64_t>(session.malloc(thread, page_bytes_));
    if (fresh == 0) {
      word.store(word_of(page(found), out_of_memory + capacity_), simt::release);
      return {found, 0};
    }
    Chain::write_header(fresh, page(found), capacity_);
    at(thread, tail.pages).fetch_add(1u, simt::relaxed);
    word.store(word_of(fresh, left), simt::release);
    on_page(fresh);
    return {found, fresh};
  }

  std::size_t page_bytes_;
  std::uint32_t capacity_;
};

}  // namespace allocbench
