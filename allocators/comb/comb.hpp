// Comb usually serves all lanes of a warp that request the same size by one atomic operation.
//
// Comb is our own design. No paper describes it. docs/comb.md explains the idea with a picture, the invariants, and why
// each step is safe.
//
// Idea: The pool is cut into chunks. Each chunk serves one size at a time. A bitmap word of 64 bits has the size class
// of its chunk and the bits of 32 slots. A warp finds a chunk in the directory of its class and ORs one bit per lane
// into a word of the chunk, without loading the word first. The place in the directory depends on the warp's number, on
// how many of its lanes request, and on the clock if the warp's share (the slots that it tries first) has more slots
// than these lanes need. The old word shows which slots the warp won. A directory entry may be wrong at any time, but
// the class in the old word shows whether the claim counts. Each entry has a preferred chunk, and a warp that requests
// one class guesses that the entry contains this chunk. If the guess is right, the warp does not read the directory.
// Neighbouring warps start at neighbouring slots, so warps that repeat their requests seldom contend for slots.
//
//   space.hpp       the arrays           words.hpp    claim, open and own a word
//   retirement.hpp  chunks change class  take.hpp     slots for lanes that come together
//   members.hpp     chunks of a class    search.hpp   the slow path: other words, other chunks, all chunks
//   runs.hpp        large requests       inspect.hpp  invariants
//   growth.hpp      pools that grow
#pragma once

#include "allocators/comb/growth.hpp"
#include "allocators/comb/inspect.hpp"
#include "allocators/comb/runs.hpp"
#include "allocators/comb/search.hpp"
#include "allocators/support/common/request.hpp"

namespace allocbench {
namespace comb {

// This is log2 of the approximate number of clock() ticks during a request: cycles on a GPU, steps of all lanes on the
// CPU executor.
inline constexpr std::uint32_t request_ticks_log2 = SIMT_CUDA ? 10 : 0;

template <Bug bug>
class Comb {
 public:
  using Parameters = comb::Parameters;

  static std::size_t max_request(std::size_t pool_bytes, const Parameters& parameters) {
    return pool_bytes >> chunk_log2(pool_bytes, parameters) << chunk_log2(pool_bytes, parameters);
  }
  // The heap has six chunks of 16 slots of 16 bytes. A reset prepares two of the chunks.
  static SmallHeap<Parameters> small_heap() {
    return {
        .pool_bytes = 6 * 256, .parameters = {.chunk_bytes = 256, .least_chunks = 1, .prepared = 2}, .serves_new = 96};
  }
  // The chunks of this heap have more than one bitmap word.
  static SmallHeap<Parameters> second_small_heap() {
    return {.pool_bytes = 4 * 1024,
            .parameters = {.chunk_bytes = 1024, .least_chunks = 1, .prepared = 1},
            .serves_new = 256};
  }
  // This heap has more than 32 windows, so the marks of a class take two words (scan.hpp).
  static SmallHeap<Parameters> heap_of_many_units() {
    return {.pool_bytes = 33 * comb::window_chunks * 256,
            .parameters = {.chunk_bytes = 256, .least_chunks = 1, .prepared = 1},
            .serves_new = 4096};
  }

  void reset(simt::Stream& stream) { space_.reset(stream); }

  // Returns the parameters of a pool that begins with `first_bytes` and grows up to `most_bytes`. All prepared chunks
  // are in the first `first_bytes`.
  static Parameters parameters_for_growth(Parameters parameters, std::size_t first_bytes, std::size_t most_bytes) {
    const std::uint64_t times = (most_bytes + first_bytes - 1) / first_bytes;
    const std::uint64_t one_in = std::max<std::uint64_t>(parameters.prepared, 2) * times;
    parameters.prepared = parameters.prepared == 0 || one_in > most_prepared ? 0 : one_in;
    return parameters;
  }
  // Moves the end of the pool from `before` to `bytes`, rounded down to whole chunks, and returns the new size. After
  // create() or reset(), the heap has the whole pool, so `before` is the size of the pool. No other kernel may run.
  std::size_t move_end(simt::Stream& stream, std::size_t before, std::size_t bytes) {
    const auto end = static_cast<std::uint32_t>(bytes >> space_.chunk_log2);
    comb::move_end(stream, space_, static_cast<std::uint32_t>(before >> space_.chunk_log2), end);
    return std::size_t{end} << space_.chunk_log2;
  }

  // A slot starts at a multiple of its size from the start of its chunk. The block of a large request starts at the
  // start of a chunk.
  std::size_t alignment_of(std::size_t bytes) const {
    const auto base = reinterpret_cast<std::uint64_t>(space_.base);
    const bool has_slot = bytes <= space_.largest_slot;
    const std::uint32_t index = has_slot ? SizeClass::of(static_cast<std::uint32_t>(bytes)) : 0;
    const std::uint64_t distance = has_slot ? space_.size_class(index).slot_bytes() : 0;
    return std::size_t{1} << simt::count_trailing_zeros(base | space_.chunk_bytes() | distance);
  }

  template <class Thread>
  SIMT_FN void* malloc(Thread& thread, std::size_t bytes) {
    if (bytes > space_.largest_slot) {
      const RequestLimit limit{std::uint64_t{space_.chunks} << space_.chunk_log2};
      return limit.refuses(bytes) ? nullptr : take_run(thread, *space_.copy, bytes);
    }
    const auto group = thread.converged();
    const SizeClass size_class = space_.size_class(SizeClass::of(static_cast<std::uint32_t>(bytes)));
    Place place;
    FirstClaim first;
    if (group.num_threads() == 1) {
      // One lane alone makes no votes and shuffles, because they would take time in a loop of one lane.
      const auto now = [&] { return static_cast<std::uint32_t>(thread.clock()); };
      place = place_of(thread, size_class, 1, 1, 0, now);
      thread.probe(simt::Step::attempt);
      first = claim_first(thread, size_class, place, true);
      if (first.won != 0) return block_of(first.chunk, size_class, place, simt::count_trailing_zeros(first.won));
    } else {
      const bool one_class = group.all(size_class.index == group.broadcast(size_class.index));
      const auto mates = one_class ? group : group.match_any(size_class.index);
      const std::uint32_t rank = mates.thread_rank();
      const std::uint32_t first_rank = rank >> size_class.word_log2() << size_class.word_log2();
      const auto now = [&] { return mates.broadcast(static_cast<std::uint32_t>(thread.clock())); };
      place = place_of(thread, size_class, mates.num_threads(), group.num_threads(), first_rank, now);
      if (rank == first_rank) {
        thread.probe(simt::Step::attempt);
        first = claim_first(thread, size_class, place, one_class);
      }
      const std::uint32_t claimant =
          first_rank == 0 ? mates.leader_lane() : simt::nth_set_bit(mates.mask(), first_rank);
      first.chunk = group.shfl_lane(first.chunk, claimant);
      first.won = group.shfl_lane(first.won, claimant);
      const bool all = group.all(first.won == place.bits);
      group.sync();  // the claiming lane's acquire covers all lanes
      const std::uint32_t share = rank - first_rank;
      if (all) return block_of(first.chunk, size_class, place, simt::count_trailing_zeros(place.bits) + share);
      if (share < simt::popcount(first.won)) {
        return block_of(first.chunk, size_class, place, simt::nth_set_bit(first.won, share));
      }
    }
    return serve_rest(thread, *space_.copy, size_class, place, first.chunk, first.seen | place.bits);
  }

  template <class Thread>
  SIMT_FN void free(Thread& thread, void* block) {
    if (block == nullptr) return;
    const std::size_t offset = space_.offset_of(block);
    const std::uint32_t chunk = space_.chunk_at(offset);
    // A plain load is enough, because no thread writes this word while a block of the chunk is in use.
    const std::uint32_t entry = space_.table[chunk];
    if (entry > last_class_entry) return free_run(thread, *space_.copy, chunk, entry);
    const std::uint32_t in_chunk = static_cast<std::uint32_t>(offset) & ((1u << space_.chunk_log2) - 1);
    const std::uint32_t slot = space_.size_class(entry - 1).slot_at(in_chunk);
    const std::uint32_t number = space_.word_number(chunk, slot / 32);
    std::uint32_t bits = 1u << slot % 32;
    const auto group = thread.converged();
    const auto word = thread.atomic(space_.words[number]);
    if (!group.all(number == group.broadcast(number))) {
      word.fetch_and(~std::uint64_t{bits}, simt::release);
      return;
    }
    bits = group.reduce_add(bits);  // distinct bits
    group.sync();                   // the leader's release covers all lanes
    if (group.leader()) word.fetch_and(~std::uint64_t{bits}, simt::release);
  }

  std::string broken_invariant(simt::Stream& stream) const { return Inspection(stream, space_).broken_invariant(); }
  // The numbers are exact, because no kernel may run during the call.
  HeapUsage usage(simt::Stream& stream) const { return Inspection(stream, space_).usage(); }
  const Space<bug>& space() const { return space_; }

 protected:
  static Comb lay_out(Arena& arena, const Parameters& parameters) {
    Comb allocator;
    allocator.space_ = Space<bug>::create(arena, parameters);
    return allocator;
  }

 private:
  static std::uint32_t chunk_log2(std::size_t pool_bytes, const Parameters& parameters) {
    return Space<bug>::chunk_log2_for(pool_bytes, parameters);
  }

  // These are the doublings of the slot sizes 4, 6, 8 and 12 KiB. The share of a lone lane may be less than a word of
  // such slots.
  static constexpr std::uint32_t small_share_first = 8;
  static constexpr std::uint32_t small_share_last = 9;

  // FirstClaim is the result of the first claim: its chunk, the bits that it won, and the old word.
  struct FirstClaim {
    std::uint32_t chunk = no_chunk;
    std::uint32_t won = 0;
    std::uint64_t seen = unknown_word;
  };

  // Makes the first claim. With `guesses`, the claim goes to the preferred chunk of the directory entry, and the
  // directory is read only if the tag shows that the guess was wrong. A right guess saves a round trip to memory. A
  // wrong guess costs all lanes of the warp up to two more accesses, so a warp that requests several classes does not
  // guess.
  //
  // A wrong guess sets bits in a word of another class and clears them again. This harms no block:
  //   * A closed or locked word (of a free chunk, a run, a retirement, an opening) has all bits set, so the guess wins
  //     nothing.
  //   * Bits of live blocks and surplus bits are set, so a free of the other class clears only bits that the guess has
  //     not won, and the guess clears only its own bits.
  //   * Another claim, of this or of another class, does not win a bit that the guess holds, so it searches elsewhere.
  //   * While the guess holds a bit, the word is not empty, so the chunk cannot be retired. The bits are cleared in the
  //     same word, which still has the same class. A retirement that finds them set fails, as with any live block.
  template <class Thread>
  SIMT_FN FirstClaim claim_first(Thread& thread, SizeClass size_class, Place place, bool guesses) const {
    FirstClaim guess;
    if (guesses) {
      guess = claim_in(thread, size_class, place, first_chunk + own_chunk(space_, size_class.index, place.entry));
      if (tag_of(guess.seen) == size_class.index) return guess;
    }
    const std::uint32_t listed = thread.atomic(space_.entry(size_class.index, place.entry)).load(simt::relaxed);
    return listed == guess.chunk ? guess : claim_in(thread, size_class, place, listed);
  }

  template <class Thread>
  SIMT_FN FirstClaim claim_in(Thread& thread, SizeClass size_class, Place place, std::uint32_t chunk) const {
    FirstClaim claim{chunk};
    if (chunk >= first_chunk) {
      claim.won =
          claim_bits(thread, space_, space_.word_number(chunk, place.word), size_class.index, place.bits, claim.seen);
    }
    return claim;
  }

  // Returns the place of the first claim. The number of a warp determines which slots are its share. The size of a
  // share is a power of two, at least one slot per mate. Shares are larger in a large pool, where a lane that requests
  // twice should find a second slot. If one lane of a warp calls, the warp is likely to request again. So the shares of
  // such warps together may take up to the whole pool. If more than 16 lanes of the warp call (`lanes`), a share is at
  // most one word. Fewer lanes may be in a loop, so they get up to an eighth of a chunk if this exceeds a word and the
  // prepared chunks are enough for all. A lone lane that needs slots of 4 to 12 KiB gets less than a word if the
  // prepared chunks have a slot, but not a word, for each warp. Its first request then finds an open word. If this word
  // has no free slot, the lane takes the slow path. Other shares of less than a word use parts of the directory that
  // depend on their size. So warps with 3 mates and warps with 30 do not contend. `now` is the mates' common clock.
  template <class Thread, class Now>
  SIMT_FN Place place_of(Thread& thread, SizeClass size_class, std::uint32_t count, std::uint32_t lanes,
                         std::uint32_t first_rank, Now now) const {
    const std::uint32_t count_log2 = count == 1 ? 0 : 32 - simt::count_leading_zeros(count - 1);
    const std::uint32_t warps_of_block = (thread.block_size() + 31) / 32;
    const std::uint32_t spent_log2 =
        36 - simt::count_leading_zeros(thread.block_count() * warps_of_block - 1) + size_class.doublings();
    const std::uint32_t more_log2 = lanes == 1 ? Space<bug>::pool_per_shares_log2 : count == 1 ? 2 : 0;
    const std::uint32_t spare_log2 = space_.share_log2 + more_log2;
    const std::uint32_t most_log2 = spare_log2 > spent_log2 ? spare_log2 - spent_log2 : 0;
    const std::uint32_t slots_log2 = size_class.slots_log2();
    const bool small = lanes == 1 && size_class.doublings() >= small_share_first &&
                       size_class.doublings() <= small_share_last && space_.wide_log2 >= spent_log2;
    const std::uint32_t ready_log2 = small || space_.wide_log2 > spent_log2 + 5 ? space_.wide_log2 - spent_log2 : 5;
    const std::uint32_t eighth_log2 = lanes <= 16 && slots_log2 > 8 ? slots_log2 - 3 : 5;
    const std::uint32_t limit_log2 = eighth_log2 < ready_log2 ? eighth_log2 : ready_log2;
    const std::uint32_t wide_log2 = most_log2 < limit_log2 ? most_log2 : limit_log2;
    const std::uint32_t share_log2 = count_log2 > wide_log2 ? count_log2 : wide_log2;
    const std::uint32_t word_log2 = size_class.word_log2();
    const std::uint32_t words_log2 = size_class.words_log2();
    const std::uint32_t warp = thread.block() * warps_of_block + thread.warp_in_block();
    std::uint32_t position = (warp << share_log2) + first_rank;
    if (share_log2 != count_log2) {
      // The clock advances to the next place of the share in about the time of one request, so a lane with repeated
      // requests uses all places in turn. Random places would collide with earlier requests.
      position += now() >> request_ticks_log2 << count_log2 & ((1u << share_log2) - 1);
    }
    const std::uint32_t word = position >> word_log2;
    // If `small` is set, the shares stay in the first part of the directory, because the prepared chunks are there.
    const std::uint32_t part = (share_log2 < 5 && !small ? 5 - share_log2 : 0) << (space_.directory_log2 - 3);
    const std::uint32_t most = 1u << word_log2;
    const std::uint32_t asked = count - first_rank < most ? count - first_rank : most;
    return {((word >> words_log2) ^ part) & ((1u << space_.directory_log2) - 1), word & ((1u << words_log2) - 1),
            (0xffffffffu >> (32 - asked)) << (position & (most - 1)), share_log2 != 5 || count <= 16};
  }

  SIMT_FN void* block_of(std::uint32_t chunk, SizeClass size_class, Place place, std::uint32_t bit) const {
    return space_.block(chunk, size_class, place.word * 32 + bit);
  }

  template <class Thread>
  SIMT_NOINLINE_FN static void* serve_rest(Thread& thread, const Space<bug>& space, SizeClass size_class, Place place,
                                           std::uint32_t chunk, std::uint64_t seen) {
    const auto mates = thread.converged().match_any(size_class.index);
    place = {mates.broadcast(place.entry), mates.broadcast(place.word), mates.broadcast(place.bits),
             mates.any(place.thrifty)};
    chunk = mates.broadcast(chunk);
    return search(thread, space, mates, size_class, place, chunk, seen);
  }

  Space<bug> space_;
};

}  // namespace comb

struct Comb : comb::Comb<comb::Bug::none> {
  static constexpr Traits traits{.name = "comb",
                                 .display_name = "Comb",
                                 .paper = "this project, docs/comb.md",
                                 .summary =
                                     "chunks of equal slots; a warp takes its slots with one OR on a word that "
                                     "carries its size class",
                                 .form = Form::own,
                                 .records_applications = true};
  static Comb create(Arena& arena, const Parameters& parameters) { return {lay_out(arena, parameters)}; }
};

}  // namespace allocbench

ALLOCBENCH_REGISTER(comb, Comb)
