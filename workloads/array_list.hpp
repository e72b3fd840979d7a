// array_list: many threads allocate small items that are never freed one by one, by malloc or through an ArrayList.
//
// Spliet et al., GPGPU-7 2014, sec. 5.2, fig. 6: each thread takes 4 or 8 bytes, ten times in a row. With `malloc`
// every item is a block; with `grow_local` the threads of a block add up what they want and one of them allocates for
// all (containers/array_list.hpp). As in the paper, only the allocations are timed. Both ways every thread writes its
// items, which are checked after each sample: the words, and for the list that it consists of these items and of
// nothing else.
#pragma once

#include "containers/array_list.hpp"
#include "workloads/common/recorded_pointers.hpp"
#include "workloads/common/requirements.hpp"
#include "workloads/contract/outcome.hpp"
#include "workloads/contract/workload.hpp"
#include "workloads/verification/list_check.hpp"

namespace allocbench {

using ItemList = ArrayList<std::uint32_t>;  // an item of 4 n bytes is n elements

// Items of a launch: `slots` has a row of callers per iteration; all words of an item hold the index of its slot.
struct Items {
  Geometry geometry;
  std::uint32_t iterations;
  std::uint32_t words;
  std::uint32_t** slots;

  SIMT_FN std::uint32_t end() const { return iterations * geometry.callers; }
  SIMT_FN void keep(std::uint32_t slot, std::uint32_t* item) const {
    slots[slot] = item;
    if (item == nullptr) return;
    for (std::uint32_t word = 0; word < words; ++word) item[word] = slot;
  }
};

struct MallocItemsKernel {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, Items items) const {
    const std::uint32_t caller = items.geometry.caller(thread);
    if (caller == Geometry::no_caller) return;
    auto&& session = attach(allocator, thread);
    for (std::uint32_t slot = caller; slot < items.end(); slot += items.geometry.callers) {
      items.keep(slot, static_cast<std::uint32_t*>(session.malloc(thread, std::size_t{4} * items.words)));
    }
    detach(session, thread);
  }
};

// Threads beyond the last caller take part with nothing, because all threads of a block call grow_local().
struct GrowListKernel {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, Items items, ItemList list) const {
    const std::uint32_t caller = items.geometry.caller(thread);
    const std::uint32_t words = caller == Geometry::no_caller ? 0 : items.words;
    auto&& session = attach(allocator, thread);
    for (std::uint32_t row = 0; row < items.end(); row += items.geometry.callers) {
      std::uint32_t* const item = list.grow_local(thread, session, words);
      if (words != 0) items.keep(row + caller, item);
    }
    detach(session, thread);
  }
};

struct FreeItemsKernel {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, Items items) const {
    const std::uint32_t caller = items.geometry.caller(thread);
    if (caller == Geometry::no_caller) return;
    auto&& session = attach(allocator, thread);
    for (std::uint32_t slot = caller; slot < items.end(); slot += items.geometry.callers) {
      session.free(thread, items.slots[slot]);
    }
    release_all(session, thread);
    detach(session, thread);
  }
};

struct ClearListKernel {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, ItemList list) const {
    auto&& session = attach(allocator, thread);
    if (thread.rank_in_grid() == 0) list.clear(thread, session);
    detach(session, thread);
  }
};

// A kernel of its own: where frees are in bulk, chunks must outlive the walk of the thread that clears the list.
struct ReleaseKernel {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator) const {
    auto&& session = attach(allocator, thread);
    release_all(session, thread);
    detach(session, thread);
  }
};

struct ReadItemsKernel {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, Items items, std::uint8_t* intact) const {
    const std::uint32_t caller = items.geometry.caller(thread);
    if (caller == Geometry::no_caller) return;
    for (std::uint32_t slot = caller; slot < items.end(); slot += items.geometry.callers) {
      const std::uint32_t* const item = items.slots[slot];
      bool same = true;
      for (std::uint32_t word = 0; item != nullptr && word < items.words; ++word) same = same && item[word] == slot;
      intact[slot] = same ? 1 : 0;
    }
  }
};

// One thread. `found` counts all chunks, also those beyond `capacity`.
struct ReadChunksKernel {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, ItemList list, ListChunk* chunks, std::uint32_t capacity,
                          std::uint32_t* found) const {
    std::uint32_t count = 0;
    list.for_each_chunk(thread, [&](const std::uint32_t* first, std::uint64_t words) {
      if (count < capacity) chunks[count] = {reinterpret_cast<std::uint64_t>(first), words};
      ++count;
    });
    *found = count;
  }
};

struct ArrayListGrowth {
  struct Parameters {
    std::uint32_t threads = 1024;
    std::uint32_t threads_per_block = 128;
    std::uint32_t iterations = 10;
    std::uint32_t item_bytes = 4;
    std::string method = "grow_local";

    Geometry geometry() const { return Geometry::of_callers(threads, threads_per_block, simt::warp_size); }
    bool uses_list() const { return method == "grow_local"; }
    // Requests to the allocator, and the size of each.
    std::uint32_t requests() const { return (uses_list() ? geometry().blocks : threads) * iterations; }
    std::uint64_t request_bytes() const {
      const std::uint32_t block_threads = std::min(threads, threads_per_block);
      return uses_list() ? ItemList::chunk_bytes(std::size_t{block_threads} * item_bytes / 4) : item_bytes;
    }
    // Of the threads that call the allocator.
    Geometry request_geometry() const {
      return Geometry::of_callers(requests(), threads_per_block, uses_list() ? 1 : simt::warp_size);
    }

    static auto fields() {
      using P = Parameters;
      return std::tuple{
          Field{"threads", &P::threads, "threads", "threads that take items", "Spliet et al. 2014, fig. 6"}.between(
              1, 1 << 24),
          Field{"threads_per_block", &P::threads_per_block, "threads", "threads of a block, which share a chunk",
                "assumed; the paper has multiples of 384 threads in all"}
              .between(1, most_threads_per_block),
          Field{"iterations", &P::iterations, "items", "items that a thread takes, one after the other",
                "Spliet et al. 2014, sec. 5.2"}
              .between(1, 1 << 20),
          Field{"item_bytes", &P::item_bytes, "B", "size of an item", "Spliet et al. 2014, sec. 5.2: 4 or 8"}
              .between(4, 4096)
              .powers_of_two(),
          Field{"method", &P::method, "",
                "malloc: every item is a block; grow_local: the items of a block of threads are one chunk of a list",
                "Spliet et al. 2014, sec. 5.2"}
              .one_of({"malloc", "grow_local"})};
    }
  };

  static constexpr WorkloadTraits traits{
      .name = "array_list",
      .display_name = "ArrayList Growth",
      .paper = "Spliet et al. 2014, sec. 5.2",
      .summary = "every thread takes small items, each by malloc or together with its block from a list",
      .phases = "alloc",
      .writes_blocks = true};

  static constexpr std::uint64_t most_items = 1ull << 28;  // keeps every index in 32 bits

  template <class A>
  static std::string unsupported(const Parameters& p, const RunSetting<A>& setting) {
    if (std::uint64_t{p.threads} * p.iterations > most_items) {
      return "threads times iterations exceeds " + std::to_string(most_items);
    }
    const std::string recycled = why_recycling<A>(pad(p.request_bytes(), 16) * p.requests(), setting);
    if (!recycled.empty()) return recycled;
    return why_unsupported<A>(p.request_geometry(), p.request_bytes(), setting);
  }

  template <class A>
  class Run {
   public:
    Run(const Parameters& parameters, const RunSetting<A>&, simt::Stream& stream)
        : stream_(stream),
          parameters_(parameters),
          geometry_(parameters.geometry()),
          slots_(stream, geometry_.callers, parameters.iterations),
          root_(1),
          intact_(std::size_t{geometry_.callers} * parameters.iterations),
          chunks_(parameters.uses_list() ? parameters.requests() : 0),
          chunks_found_(1) {}

    void prepare() {
      slots_.poison();
      root_.fill_bytes(stream_, 0);
      chunks_found_.fill_bytes(stream_, 0);
    }

    template <class Caller>
    void sample(const Caller& allocator, PhaseTimer& timer) {
      simt::LaunchShape shape = geometry_.shape();
      timer.phase("alloc", std::uint64_t{geometry_.callers} * parameters_.iterations, [&] {
        if (parameters_.uses_list()) {
          shape.shared_bytes = ItemList::shared_bytes();
          simt::launch(stream_, shape, GrowListKernel{}, allocator, items(), list());
        } else {
          simt::launch(stream_, shape, MallocItemsKernel{}, allocator, items());
        }
      });
      shape.shared_bytes = 0;
      simt::launch(stream_, shape, ReadItemsKernel{}, items(), intact_.data());
      if (parameters_.uses_list()) {
        simt::launch(stream_, {1, 1}, ReadChunksKernel{}, list(), chunks_.data(),
                     static_cast<std::uint32_t>(chunks_.size()), chunks_found_.data());
        simt::launch(stream_, shape, ClearListKernel{}, allocator, list());
        simt::launch(stream_, shape, ReleaseKernel{}, allocator);
      } else {
        simt::launch(stream_, shape, FreeItemsKernel{}, allocator, items());
      }
    }

    void check_recorded(PointerCheck& check) const {
      std::vector<RecordedBlock> slots = slots_.blocks([&](std::size_t) { return parameters_.item_bytes; });
      const std::vector<std::uint8_t> intact = intact_.to_host(stream_);
      if (!parameters_.uses_list()) {
        check.check(slots, PointerCheck::Live::together);
        if (!check.ok()) return;
        if (std::find(intact.begin(), intact.end(), 0) != intact.end()) fail("an item was overwritten");
        return;
      }
      // Items lie inside chunks, which are the blocks; here an item counts only where there is none.
      const auto missing = [](const RecordedBlock& slot) { return slot.address == 0 || slot.address == poisoned_slot; };
      std::vector<RecordedBlock> blocks;
      std::copy_if(slots.begin(), slots.end(), std::back_inserter(blocks), missing);
      std::vector<ListChunk> chunks = chunks_.to_host(stream_);
      const std::uint32_t found = chunks_found_.to_host(stream_).front();
      if (found > chunks.size()) fail("the list has more chunks than were appended");
      chunks.resize(found);
      for (const ListChunk& chunk : chunks) {
        constexpr std::uint64_t header = ItemList::chunk_bytes(0);
        blocks.push_back({chunk.address - header, header + 4 * chunk.words, blocks.size()});
      }
      check.check(blocks, PointerCheck::Live::together);
      if (!check.ok()) return;
      std::vector<ListItem> items;
      for (const RecordedBlock& slot : slots) {
        if (missing(slot)) continue;
        const auto thread = static_cast<std::uint32_t>(slot.request % geometry_.callers);
        items.push_back({slot.address, thread, thread / geometry_.callers_per_block,
                         static_cast<std::uint32_t>(slot.request / geometry_.callers), intact[slot.request] != 0});
      }
      const std::string problem = list_problem(std::move(chunks), std::move(items), parameters_.item_bytes / 4);
      if (!problem.empty()) fail(problem);
    }

    RequestProfile requests() const {
      return {parameters_.request_geometry(), RequestSizes::fixed(parameters_.request_bytes())};
    }
    std::uint64_t mallocs_at_most() const { return parameters_.requests(); }

    std::vector<KernelInfo> kernels() const {
      return {{"alloc", parameters_.uses_list() ? simt::kernel_attributes<GrowListKernel, A, Items, ItemList>()
                                                : simt::kernel_attributes<MallocItemsKernel, A, Items>()}};
    }

   private:
    [[noreturn]] static void fail(const std::string& problem) {
      throw CellFailure(Status::incorrect, "wrong contents: " + problem);
    }

    Items items() const {
      return {geometry_, parameters_.iterations, parameters_.item_bytes / 4,
              reinterpret_cast<std::uint32_t**>(slots_.data())};
    }
    ItemList list() const { return ItemList(root_.data()); }

    simt::Stream& stream_;
    Parameters parameters_;
    Geometry geometry_;
    RecordedPointers slots_;
    simt::Buffer<ItemList::Root> root_;
    simt::Buffer<std::uint8_t> intact_;
    simt::Buffer<ListChunk> chunks_;
    simt::Buffer<std::uint32_t> chunks_found_;
  };
};

}  // namespace allocbench
