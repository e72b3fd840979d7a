#include "workloads/array_list/array_list.hpp"

#include <algorithm>
#include <iterator>

#include "workloads/array_list/kernels.hpp"
#include "workloads/support/contract/outcome.hpp"
#include "workloads/support/verification/list_check.hpp"
#include "workloads/support/verification/recorded_pointers.hpp"

namespace allocbench {
namespace {

constexpr std::uint64_t most_items = 1ull << 28;  // keeps every index in 32 bits

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

// The first thread of every block looks up one element. The indices of these elements are evenly spaced from 0 on.
struct GetElementsKernel {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, ItemList list, std::uint64_t elements, std::uint32_t** got) const {
    if (thread.rank_in_block() == 0) {
      const std::uint32_t block = thread.block();
      got[block] = list.get(thread, elements * block / thread.block_count());
    }
  }
};

// One thread copies the chunks of the list. `found` counts all chunks, also those beyond `capacity`.
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

class ArrayListRun final : public WorkloadRun {
 public:
  ArrayListRun(const ArrayListGrowth::Parameters& parameters, const RunSetting& setting, simt::Stream& stream)
      : stream_(stream),
        type_(setting.allocator),
        parameters_(parameters),
        geometry_(parameters.geometry()),
        slots_(stream, geometry_.callers, parameters.iterations),
        root_(1),
        intact_(std::size_t{geometry_.callers} * parameters.iterations),
        got_(geometry_.blocks),
        chunks_(parameters.uses_list() ? parameters.requests() : 0),
        chunks_found_(1) {}

  void prepare() override {
    slots_.poison();
    root_.fill_bytes(stream_, 0);
    chunks_found_.fill_bytes(stream_, 0);
  }

  void sample(const AllocatorHandle& allocator, PhaseTimer& timer) override {
    const simt::LaunchShape shape = geometry_.shape();
    const std::uint64_t taken = std::uint64_t{geometry_.callers} * parameters_.iterations;
    timer.phase("alloc", taken, [&] { take_items(allocator); });
    simt::launch(stream_, shape, ReadItemsKernel{}, items(), intact_.data());
    if (!parameters_.uses_list()) {
      timer.phase("clear", taken,
                  [&] { allocator.launch<ArrayListKernels>(stream_, shape, FreeItemsKernel{}, items()); });
      return;
    }
    timer.phase("get", geometry_.blocks,
                [&] { simt::launch(stream_, shape, GetElementsKernel{}, list(), elements(), got_.data()); });
    simt::launch(stream_, {1, 1}, ReadChunksKernel{}, list(), chunks_.data(),
                 static_cast<std::uint32_t>(chunks_.size()), chunks_found_.data());
    timer.phase("clear", parameters_.requests(),
                [&] { allocator.launch<ArrayListKernels>(stream_, shape, ClearListKernel{}, list()); });
    allocator.launch<ArrayListKernels>(stream_, shape, ReleaseKernel{});
  }

  void check_recorded(PointerCheck& check) const override {
    const auto bytes_of = [&](std::size_t) { return std::uint64_t{parameters_.item_bytes}; };
    const std::vector<std::uint8_t> intact = intact_.to_host(stream_);
    if (parameters_.uses_list()) {
      check_list(check, slots_.blocks(bytes_of), intact);
      return;
    }
    slots_.check(check, {parameters_.item_bytes}, bytes_of, PointerCheck::Live::together);
    if (!check.ok()) return;
    if (std::find(intact.begin(), intact.end(), 0) != intact.end())
      fail_if_wrong("contents", "an item was overwritten");
  }

  RequestProfile requests() const override {
    return {parameters_.request_geometry(), RequestSizes::fixed(parameters_.request_bytes())};
  }
  std::uint64_t mallocs_at_most() const override { return parameters_.requests(); }

  std::vector<KernelInfo> kernels() const override {
    if (!parameters_.uses_list()) {
      return {kernel_info<ArrayListKernels, MallocItemsKernel, Items>("alloc", type_),
              kernel_info<ArrayListKernels, FreeItemsKernel, Items>("clear", type_)};
    }
    return {parameters_.grows_together()
                ? kernel_info<ArrayListKernels, GrowListKernel, Items, ItemList>("alloc", type_)
                : kernel_info<ArrayListKernels, GrowItemsKernel, Items, ItemList>("alloc", type_),
            kernel_info<ArrayListKernels, ClearListKernel, ItemList>("clear", type_)};
  }

 private:
  void take_items(const AllocatorHandle& allocator) {
    simt::LaunchShape shape = geometry_.shape();
    if (parameters_.grows_together()) {
      shape.shared_bytes = ItemList::shared_bytes();
      allocator.launch<ArrayListKernels>(stream_, shape, GrowListKernel{}, items(), list());
    } else if (parameters_.uses_list()) {
      allocator.launch<ArrayListKernels>(stream_, shape, GrowItemsKernel{}, items(), list());
    } else {
      allocator.launch<ArrayListKernels>(stream_, shape, MallocItemsKernel{}, items());
    }
  }

  // The blocks are chunks, and items lie inside chunks. So PointerCheck gets the chunks and the slots that have no
  // item.
  void check_list(PointerCheck& check, const std::vector<RecordedBlock>& slots,
                  const std::vector<std::uint8_t>& intact) const {
    const auto missing = [](const RecordedBlock& slot) { return slot.address == 0 || slot.address == poisoned_slot; };
    std::vector<RecordedBlock> blocks;
    std::copy_if(slots.begin(), slots.end(), std::back_inserter(blocks), missing);
    std::vector<ListChunk> chunks = chunks_.to_host(stream_);
    const std::uint32_t found = chunks_found_.to_host(stream_).front();
    if (found > chunks.size()) fail_if_wrong("contents", "the list has more chunks than were appended");
    chunks.resize(found);
    for (const ListChunk& chunk : chunks) {
      constexpr std::uint64_t header = ItemList::chunk_bytes(0);
      blocks.push_back({chunk.address - header, header + 4 * chunk.words, blocks.size()});
    }
    check.check(blocks, PointerCheck::Live::together);
    if (!check.ok()) return;
    fail_if_wrong("contents", got_problem(chunks, got_.to_host(stream_), elements()));
    std::vector<ListItem> items;
    for (const RecordedBlock& slot : slots) {
      if (missing(slot)) continue;
      const auto thread = static_cast<std::uint32_t>(slot.request % geometry_.callers);
      items.push_back({slot.address, thread, thread / geometry_.callers_per_block,
                       static_cast<std::uint32_t>(slot.request / geometry_.callers), intact[slot.request] != 0});
    }
    fail_if_wrong("contents", list_problem(std::move(chunks), std::move(items), parameters_.item_bytes / 4));
  }

  Items items() const {
    return {geometry_, parameters_.iterations, parameters_.item_bytes / 4,
            reinterpret_cast<std::uint32_t**>(slots_.data())};
  }
  std::uint64_t elements() const {
    return std::uint64_t{geometry_.callers} * parameters_.iterations * (parameters_.item_bytes / 4);
  }
  ItemList list() const { return ItemList(root_.data()); }

  simt::Stream& stream_;
  const AllocatorType& type_;
  ArrayListGrowth::Parameters parameters_;
  Geometry geometry_;
  RecordedPointers slots_;
  simt::Buffer<ItemList::Root> root_;
  simt::Buffer<std::uint8_t> intact_;
  simt::Buffer<std::uint32_t*> got_;
  simt::Buffer<ListChunk> chunks_;
  simt::Buffer<std::uint32_t> chunks_found_;
};

}  // namespace

std::uint64_t ArrayListGrowth::Parameters::request_bytes() const {
  const std::uint32_t block_threads = std::min(threads, threads_per_block);
  if (!uses_list()) return item_bytes;
  return ItemList::chunk_bytes(std::size_t{grows_together() ? block_threads : 1} * item_bytes / 4);
}

std::string ArrayListGrowth::unsupported(const Parameters& p, const RunSetting& setting) {
  if (std::uint64_t{p.threads} * p.iterations > most_items) {
    return "threads times iterations exceeds " + std::to_string(most_items);
  }
  const std::string recycled = why_recycling(pad(p.request_bytes(), 16) * p.requests(), setting);
  if (!recycled.empty()) return recycled;
  return why_unsupported(p.request_geometry(), p.request_bytes(), setting);
}

std::unique_ptr<WorkloadRun> ArrayListGrowth::open(const Parameters& parameters, const RunSetting& setting,
                                                   simt::Stream& stream) {
  return std::make_unique<ArrayListRun>(parameters, setting, stream);
}

}  // namespace allocbench
