// Heap is the common part of both versions of ROCm's device malloc: slabs, their records, and the making of slabs.
//
// Code: ROCm device libraries, ockl/src/dm.cl. A slab has a header, bits (1 means in use or unusable) and blocks of one
// kind. Each kind has an array with one record per slab; records are only added, at the end. At most one slab of a kind
// is begun per interval (`slab_interval`; 0 means no limit). Its maker wins a compare-exchange of the time of the last
// slab, and the other lanes search again. Nothing else prevents two makers from making slabs for the same record: If a
// maker needs longer than the interval, another may begin. Then one of them loses the record and returns its slab.
//
// Memory orders of bits and counts (`bit_orders`): In the released version they are relaxed, but on MI300 a release
// fence precedes the clearing of a bit. The development version has this fence on all GPUs. In both versions, nothing
// orders the last accesses of one owner of a block before the first accesses of the next (docs/findings.md). With
// `fixed`, clearing a bit releases and setting it acquires. With every value, slabs are recorded with release and
// looked up with acquire.
#pragma once

#include <atomic>
#include <string>

#include "allocators/rocm_dm/kinds.hpp"
#include "allocators/rocm_dm/parameters.hpp"
#include "allocators/support/common/bit_orders.hpp"
#include "allocators/support/common/request.hpp"
#include "allocators/support/common/slab_pool.hpp"
#if SIMT_CUDA
#include "simt/cuda/global_timer.hpp"
#endif

namespace allocbench::rocm_dm {

struct SlabHeader {
  std::uint32_t kind;
  std::uint32_t record;
  std::uint32_t start;  // word at which the next search begins; grows with every search
  std::uint32_t unused;
};
static_assert(sizeof(SlabHeader) == Kind::header_bytes);

struct Record {
  std::uint64_t slab;  // address of the slab; 0 if there is none yet
  std::uint32_t used;  // blocks in use
  std::uint32_t unused;
};

struct KindState {
  alignas(128) std::uint32_t start;  // record at which searches begin
  alignas(128) std::uint32_t slabs;  // records in use
  alignas(128) std::uint64_t last;   // time when the last slab was begun; 0 for never
};

// Found is a slab with its kind and its record.
struct Found {
  std::uint64_t slab = 0;  // address of the slab; 0 if there is none
  std::uint32_t kind = 0;
  std::uint32_t record = 0;
};

struct Heap {
  SlabPool pool;
  const Kind* kinds = nullptr;  // kernels do not write the kinds
  KindState* states = nullptr;
  Record* records = nullptr;  // pool.count records per kind
  std::uint32_t last_kind = 0;
  std::uint64_t interval = 0;
  bool counts_first = false;  // true if a maker counts its blocks before it wins the record (GroupedParameters)
  BitOrders orders;
  RequestLimit limit;

  SIMT_FN Record& record(std::uint32_t kind, std::uint32_t index) const {
    return records[std::size_t{kind} * pool.count + index];
  }
  SIMT_FN static SlabHeader& header(std::uint64_t slab) { return *reinterpret_cast<SlabHeader*>(slab); }
  SIMT_FN static std::uint32_t& bits(std::uint64_t slab, std::uint32_t word) {
    return reinterpret_cast<std::uint32_t*>(slab + Kind::header_bytes)[word];
  }
  SIMT_FN static std::uint64_t& long_word(std::uint64_t slab, std::uint32_t word) {
    return reinterpret_cast<std::uint64_t*>(slab + Kind::header_bytes)[word];
  }
  SIMT_FN void* address(const Kind& kind, std::uint64_t slab, std::uint32_t block) const {
    return reinterpret_cast<std::byte*>(slab) + kind.begin + std::size_t{block} * kind.bytes;
  }

  enum Growth : std::uint32_t { made, look_again, full };

  // Tries to make a slab for the group. A new slab counts `taken` blocks as used. `slabs` is the number of records that
  // the group saw. Returns `full` if the pool has no slab, and `look_again` if another maker was faster or the interval
  // has not passed.
  template <class Thread, class Group>
  SIMT_FN Growth grow(Thread& thread, const Group& group, std::uint32_t kind, std::uint32_t slabs, std::uint32_t taken,
                      Found& found) const {
    std::uint32_t index = SlabPool::none;
    std::uint32_t growth = full;
    if (group.leader() && slabs < pool.count) {
      growth = begin(thread, states[kind], slabs, index);
      if (growth == look_again) thread.spin_hint();
    }
    growth = group.broadcast(growth);
    if (growth != made) return static_cast<Growth>(growth);
    index = group.broadcast(index);
    group.sync();  // the leader's acquire of the slab covers all lanes
    const auto slab = reinterpret_cast<std::uint64_t>(pool.address(index));
    const Kind size = kinds[kind];  // the stores below would force a reload each time without this copy
    write_empty_bits(group, slab, size);
    group.sync();  // the leader's release covers all lanes
    if (group.leader()) {
      thread.atomic(header(slab).kind).store(kind, simt::relaxed);
      thread.atomic(header(slab).record).store(slabs, simt::relaxed);
      thread.atomic(header(slab).start).store(0u, simt::relaxed);
      if (!enter(thread, kind, slabs, slab, taken)) {
        thread.probe(simt::Step::retry);
        pool.give(thread, index);
        growth = look_again;
      }
    }
    found = {slab, kind, slabs};
    return static_cast<Growth>(group.broadcast(growth));
  }

  // Tries once to take the lowest clear bit of the word. Returns the number of the bit's block, or no_block if no bit
  // is clear or another lane was faster.
  static constexpr std::uint32_t no_block = 0xffffffffu;
  template <class Thread>
  SIMT_FN std::uint32_t try_word(Thread& thread, std::uint64_t slab, std::uint32_t word) const {
    const auto bits_of_word = thread.atomic(bits(slab, word));
    const std::uint32_t seen = bits_of_word.load(simt::relaxed);
    if (seen == 0xffffffffu) return no_block;
    const std::uint32_t bit = simt::count_trailing_zeros(~seen);
    thread.probe(simt::Step::attempt);
    const std::uint32_t before = orders.setting([&](auto order) { return bits_of_word.fetch_or(1u << bit, order); });
    return (before >> bit & 1) == 0 ? word * 32 + bit : no_block;
  }
  // Returns the word at which the search of a lane begins. The lanes of a group begin at successive words.
  template <class Thread, class Group>
  SIMT_FN static std::uint32_t first_word(Thread& thread, const Group& group, std::uint64_t slab,
                                          std::uint32_t blocks) {
    std::uint32_t start = 0;
    if (group.leader()) start = thread.atomic(header(slab).start).fetch_add(group.num_threads(), simt::relaxed);
    start = group.broadcast(start) + group.thread_rank();
    return start * 32 % blocks / 32;
  }

  // Returns the slab of a block. The slab's record and kind do not change while a block is in use.
  template <class Thread>
  SIMT_FN Found slab_of(Thread& thread, const void* block) const {
    const auto slab = reinterpret_cast<std::uint64_t>(block) - pool.inside(block);
    const std::uint64_t words =
        thread.atomic(*reinterpret_cast<std::uint64_t*>(slab)).load(simt::relaxed);  // kind and record
    return {slab, static_cast<std::uint32_t>(words), static_cast<std::uint32_t>(words >> 32)};
  }
  template <class Thread>
  SIMT_FN void clear_bit(Thread& thread, const Found& found, const void* block) const {
    const Kind& kind = kinds[found.kind];
    const std::uint32_t index = (pool.inside(block) - kind.begin) / kind.bytes;
    const auto word = thread.atomic(bits(found.slab, index / 32));
    orders.clearing([&](auto order) { return word.fetch_and(~(1u << index % 32), order); });
  }
  // Lowers the count of a slab after the bits of `count` blocks are cleared.
  template <class Thread>
  SIMT_FN void lower_count(Thread& thread, const Found& found, std::uint32_t count) const {
    const auto used = thread.atomic(record(found.kind, found.record).used);
    orders.clearing([&](auto order) { return used.fetch_sub(count, order); });
  }

 private:
  // Writes the bits of an empty slab. No lane outside the group sees the slab yet, so plain stores are enough. The code
  // has few instructions, so that a single lane finishes within the interval even on a multiprocessor full of lanes
  // that search again.
  template <class Group>
  SIMT_FN static void write_empty_bits(const Group& group, std::uint64_t slab, const Kind& size) {
    const std::uint32_t rank = group.thread_rank();
    const std::uint32_t lanes = group.num_threads();
    const std::uint32_t last = size.long_words() - 1;
    for (std::uint32_t i = rank; i < last / 2 + 1; i += lanes) {
      simt::store_16_bytes(&long_word(slab, 2 * i), {});
    }
    group.sync();  // in the next loop, other lanes write some of these words again
    for (std::uint32_t block = size.first_unusable + rank * size.unusable_stride(); block < last * 64;
         block += lanes * size.unusable_stride()) {
      long_word(slab, block / 64) = size.unusable_bits;
    }
    if (group.leader()) long_word(slab, last) = size.last_empty_bits();
  }

  // Records the slab as number `index` of its kind. Returns false if another maker was faster.
  template <class Thread>
  SIMT_FN bool enter(Thread& thread, std::uint32_t kind, std::uint32_t index, std::uint64_t slab,
                     std::uint32_t taken) const {
    Record& entry = record(kind, index);
    if (counts_first && taken != 0) thread.atomic(entry.used).store(taken, simt::relaxed);
    std::uint64_t nothing = 0;
    if (!thread.atomic(entry.slab).compare_exchange(nothing, slab, simt::release, simt::relaxed)) return false;
    if (!counts_first && taken != 0) thread.atomic(entry.used).fetch_add(taken, simt::relaxed);
    thread.atomic(states[kind].slabs).fetch_add(1u, simt::release);
    return true;
  }

  // Takes a slab from the pool if the interval since the last slab of this kind has passed, the search saw that slab,
  // and no other lane was faster. With an interval of 0, only the pool must have a slab. If begin() takes a slab, it
  // sets `index` to the slab's number. Returns `full` only after the interval, because before its end a slab that was
  // begun may not be recorded yet.
  //
  // The search may be long ago, so the number of slabs is loaded again, after the clock. By then the last slab is
  // recorded, unless its maker was too slow. The exchange of the time fails if another slab has been begun since the
  // time was loaded.
  template <class Thread>
  SIMT_FN Growth begin(Thread& thread, KindState& state, std::uint32_t slabs, std::uint32_t& index) const {
    const auto last = thread.atomic(state.last);
    std::uint64_t before = 0;
    if (interval != 0) {
      before = last.load(simt::relaxed);
      if (!has_passed(state, before)) return look_again;
      if (thread.atomic(state.slabs).load(simt::acquire) != slabs) return look_again;
    }
    if (pool.exhausted(thread)) return full;
    std::uint64_t begun = 0;
    if (interval != 0) {
      begun = now(slabs);
      if (!last.compare_exchange(before, begun, simt::relaxed, simt::relaxed)) return look_again;
    }
    index = pool.take(thread);
    if (index != SlabPool::none) return made;
    // Makers of other kinds have taken the last slabs, so the old time is restored. A slab that another lane has begun
    // meanwhile keeps its time.
    if (interval != 0) last.compare_exchange(begun, before, simt::relaxed, simt::relaxed);
    return full;
  }

  // Reads the clock of the whole GPU, as the original does. The cycle counts of two multiprocessors differ, so one of
  // them could see the interval end while the other still makes its slab.
#if SIMT_CUDA
  SIMT_FN static std::uint64_t now(std::uint32_t) { return simt::global_nanoseconds() | 1; }
  SIMT_FN bool has_passed(const KindState&, std::uint64_t last) const {
    return last == 0 || static_cast<std::int64_t>(now(0) - last) >= static_cast<std::int64_t>(interval);
  }
#else
  // On the CPU, no time passes while all lanes wait, so the clock counts recorded slabs. The upper half counts the
  // slabs of all kinds, and the lower half those of the kind. The interval has passed once the last begun slab, number
  // `slabs`, is recorded. It has also passed when `interval` slabs of all kinds have been recorded since that slab was
  // begun. The loads do not go through the thread, because reading a clock is not an operation on shared words.
  std::uint64_t now(std::uint32_t slabs) const {
    std::uint64_t all = 0;
    for (std::uint32_t kind = 0; kind <= last_kind; ++kind) all += recorded(states[kind]);
    return all << 32 | (slabs + 1);
  }
  bool has_passed(KindState& state, std::uint64_t last) const {
    const std::uint64_t time = now(recorded(state));
    return static_cast<std::uint32_t>(time) > static_cast<std::uint32_t>(last) ||
           (time >> 32) - (last >> 32) >= interval;
  }
  static std::uint32_t recorded(KindState& state) {
    return std::atomic_ref<std::uint32_t>(state.slabs).load(std::memory_order_relaxed);
  }
#endif
};

}  // namespace allocbench::rocm_dm
