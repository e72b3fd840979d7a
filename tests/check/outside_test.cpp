// These tests check that a search finds four mistakes of a bump allocator. The mistakes are a block for a request that
// no heap can serve, a write behind the metadata, a block that ends outside the pool, and memory that is never served.
#include <gtest/gtest.h>

#include "check/library.hpp"
#include "check/search.hpp"
#include "check/subject_of.hpp"

namespace allocbench::check {
namespace {

enum class Mistake { none, rounds_in_32_bits, clears_one_word_more, last_block_reaches_out, never_serves_its_last };

// Bump is a bump allocator with one mistake, or none.
template <Mistake mistake>
class Bump {
 public:
  using Parameters = NoParameters;
  static constexpr Traits traits = {
      .name = "bump", .display_name = "bump", .paper = "test", .summary = "", .frees = Frees::never};
  static std::size_t max_request(std::size_t pool_bytes, const Parameters&) { return pool_bytes; }
  static SmallHeap<Parameters> small_heap() { return {.pool_bytes = 1024, .serves_new = 64}; }

  static Bump create(Arena& arena, const Parameters&) {
    Bump allocator;
    allocator.pool_ = arena.pool();
    allocator.next_ = arena.metadata<std::uint64_t>(1);
    allocator.reset(arena.stream());
    return allocator;
  }
  void reset(simt::Stream& stream) {
    constexpr std::uint32_t words = mistake == Mistake::clears_one_word_more ? 2 : 1;
    const auto clear = [](auto& thread, std::uint64_t* first) {
      thread.atomic(first[thread.rank_in_grid()]).store(0, simt::relaxed);
    };
    simt::launch(stream, {1, words}, clear, next_);
  }

  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t bytes) {
    if (bytes > pool_.bytes && mistake != Mistake::rounds_in_32_bits) return nullptr;
    const std::uint64_t need = mistake == Mistake::rounds_in_32_bits ? (static_cast<std::uint32_t>(bytes) + 15u) & ~15u
                                                                     : simt::round_up<std::uint64_t>(bytes, 16);
    std::uint64_t begin = thread.atomic(*next_).load(simt::relaxed);
    do {
      if (begin + (mistake == Mistake::last_block_reaches_out ? 0 : need) > last_end()) return nullptr;
    } while (!thread.atomic(*next_).compare_exchange(begin, begin + need, simt::relaxed, simt::relaxed));
    return pool_.base + begin;
  }
  template <class Thread>
  SIMT_FN void free(Thread&, void*) {}

 private:
  SIMT_FN std::uint64_t last_end() const { return pool_.bytes - (mistake == Mistake::never_serves_its_last ? 16 : 0); }

  Pool pool_;
  std::uint64_t* next_ = nullptr;
};

// Searches 20 schedules. Returns the text of the first finding, or an empty text.
template <Mistake mistake>
std::string found_on(const char* model) {
  const SubjectOf<Bump<mistake>> subject("test");
  Search search(subject, *find_model(model));
  const SearchResult result = search.explore(Strategy{}, 1, 20, {});
  return result.first ? result.first->summary : "";
}

TEST(TooLarge, ABlockForARequestThatWrapsIsFound) {
  EXPECT_EQ(found_on<Mistake::none>("too_large"), "");
  const std::string found = found_on<Mistake::rounds_in_32_bits>("too_large");
  EXPECT_NE(found.find("4294967295 bytes"), std::string::npos) << found;
  EXPECT_EQ(found_on<Mistake::rounds_in_32_bits>("full_warp"), "");
}

TEST(FreshHeap, MemoryThatItNeverServesIsFound) {
  EXPECT_EQ(found_on<Mistake::none>("storm"), "");
  EXPECT_EQ(
      found_on<Mistake::never_serves_its_last>("storm"),
      "a fresh heap that one lane or one warp fills alone: it serves 63 blocks of 16 bytes, and the design has 64");
}

TEST(Overrun, AWordBehindTheMetadataIsFound) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "AddressSanitizer ends the process at the write";
#endif
  EXPECT_EQ(found_on<Mistake::none>("storm"), "");
  EXPECT_EQ(found_on<Mistake::clears_one_word_more>("storm"),
            "written behind the end of an allocation of 8 bytes, at its byte 8");
}

// A lone lane already sees the mistake, so the number of blocks that fill the heap is not known.
TEST(FreshHeap, WhatOneLaneAloneShowsIsAFinding) {
  EXPECT_EQ(found_on<Mistake::none>("full_warp"), "");
  const std::string found = found_on<Mistake::last_block_reaches_out>("full_warp");
  EXPECT_NE(found.find("a fresh heap that one lane or one warp fills alone: "), std::string::npos) << found;
}

}  // namespace
}  // namespace allocbench::check
