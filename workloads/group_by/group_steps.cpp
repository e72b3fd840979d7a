#include "workloads/group_by/group_steps.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "workloads/group_by/step_kernels.hpp"
#include "workloads/support/parallel/parallel_for.hpp"

namespace allocbench {
namespace {

simt::LaunchShape grid(std::uint64_t threads) {
  return {static_cast<std::uint32_t>((threads + group::block_threads - 1) / group::block_threads),
          group::block_threads};
}

// Limits of the numbers of long lists and of directory entries. A pass that exceeds them is reported as an error.
std::uint32_t most_longs(std::uint32_t keys) { return keys / 512 + 2; }
std::uint32_t most_entries(std::uint32_t keys, const group::PageFormat& format) {
  return keys / format.capacity + keys / 2 + 2 * group::buckets;
}

}  // namespace

GroupSteps::ListSet::ListSet(std::uint32_t keys, const group::PageFormat& format)
    : shorts(keys),
      mediums(keys / group::short_records + 1),
      longs(most_longs(keys)),
      long_of_tail(std::size_t{most_longs(keys)} * group::buckets),
      pages(most_entries(keys, format)),
      tails(most_entries(keys, format)) {}

group::Lists GroupSteps::ListSet::lists(std::uint32_t* counts) const {
  return {shorts.data(),
          mediums.data(),
          longs.data(),
          counts,
          static_cast<std::uint32_t>(shorts.size()),
          static_cast<std::uint32_t>(mediums.size()),
          static_cast<std::uint32_t>(longs.size()),
          long_of_tail.data(),
          {pages.data(), tails.data(), counts + 3, static_cast<std::uint32_t>(pages.size())}};
}

GroupSteps::Tiles::Tiles(std::uint32_t key_count, std::uint32_t entries, std::uint32_t longs)
    : keys(entries),
      order(entries),
      sorted_keys(entries),
      sorted_order(entries),
      begin(longs),
      end(longs),
      pages(entries),
      tiles(std::max(key_count / (group::tile_slices * simt::warp_size) + 1, entries + longs)),
      sort(entries) {}

GroupSteps::Sorting::Sorting(simt::Stream& stream, const std::vector<std::uint32_t>& host_keys)
    : keys(host_keys.size()),
      rows(host_keys.size()),
      sorted_keys(host_keys.size()),
      sorted_rows(host_keys.size()),
      once(host_keys.size()),
      lengths(host_keys.size()),
      runs(1),
      sort(static_cast<std::uint32_t>(host_keys.size())),
      run_lengths(static_cast<std::uint32_t>(host_keys.size())) {
  std::vector<std::uint32_t> numbers(host_keys.size());
  std::iota(numbers.begin(), numbers.end(), 0u);
  keys.from_host(stream, host_keys);
  rows.from_host(stream, numbers);
}

GroupSteps::GroupSteps(simt::Stream& stream, const GroupInput& input, std::uint64_t page_bytes, GroupMethod method)
    : stream_(stream), method_(method), keys_(input.keys), format_(page_bytes), state_(1), digest_(1), read_count_(1) {
  const GroupReference& reference = group_reference(input, format_.capacity);
  expected_ = &reference.expected;
  if (method == GroupMethod::sort) {
    sorting_.emplace(stream, reference.keys);
    return;
  }
  std::vector<group::Record> records(keys_);
  parallel_for(records.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) records[row] = std::uint64_t{reference.keys[row]} << 32 | row;
  });
  records_ = simt::Buffer<group::Record>(keys_);
  records_.from_host(stream, records);
  if (method == GroupMethod::counts) {
    counted_.emplace(stream, keys_, expected_->lists);
    return;
  }
  for (ListSet& set : sets_) set = ListSet(keys_, format_);
  tails_ = simt::Buffer<group::Tail>(sets_[0].long_of_tail.size());
  if (method == GroupMethod::runs) {
    tiles_.emplace(keys_, most_entries(keys_, format_), most_longs(keys_));
  }
  screen_.emplace(stream, keys_);
  if (!expected_->records.empty()) {
    read_records_ = simt::Buffer<std::uint64_t>(keys_);
    read_lists_ = simt::Buffer<std::uint32_t>(keys_);
  }
}

void GroupSteps::prepare() {
  state_.fill_bytes(stream_, 0);
  known_ = {};
  digest_.fill_bytes(stream_, 0);
  read_count_.fill_bytes(stream_, 0);
  made_ = 0;
  if (screen_) screen_->clear();
}

GroupPass GroupSteps::begin_pass(std::uint32_t pass) {
  pass_ = pass;
  GroupPass work = last();
  if (pass == 0) {
    work = {};
    work.longs = 1;
    work.long_input = {records_.data(), keys_, nullptr, nullptr, nullptr, (keys_ + 31) / 32, 0};
  } else {
    work.long_input = {
        nullptr,      0,   work.lists.directory.pages, work.lists.directory.tails, work.lists.long_of_tail,
        work.entries, pass};
  }
  made_ = pass == 0 ? 0 : 1 - made_;
  simt::device_fill(stream_, state_.data()->counts[made_], 0, sizeof state_.data()->counts[made_]);
  tables_ = 0;
  return work;
}

void GroupSteps::clear_tables(GroupPass& work, void* const* blocks) {
  tables_ = work.longs;
  table_blocks_ = blocks;
  if (tables_ == 0) return;
  const std::uint32_t tails = tables_ * group::buckets;
  simt::launch(stream_, grid(tails), group::ClearTailsKernel{}, tables(), tails, format_, method_ == GroupMethod::runs);
  if (method_ == GroupMethod::runs) make_tiles(work);
}

std::uint32_t GroupSteps::most_tables(std::uint32_t keys) { return most_longs(keys); }

void GroupSteps::make_tiles(GroupPass& work) {
  Tiles& t = *tiles_;
  const std::uint32_t entries = work.entries;
  work.tiles = {nullptr, t.tiles.data(), 0, work.long_input};
  if (work.long_input.array != nullptr) {
    work.tiles.count = (work.long_input.items + group::tile_slices - 1) / group::tile_slices;
    simt::launch(stream_, grid(work.tiles.count), group::ArrayTilesKernel{}, t.tiles.data(), work.tiles.count);
    return;
  }
  simt::launch(stream_, grid(entries), group::KeysOfEntriesKernel{}, work.long_input.tails,
               work.long_input.long_of_tail, t.keys.data(), t.order.data(), entries);
  t.sort.run(stream_, entries, 0, static_cast<std::uint32_t>(std::bit_width(work.longs)), t.keys.data(), t.order.data(),
             t.sorted_keys.data(), t.sorted_order.data());
  const std::uint32_t* const keys = t.sorted_keys.data();
  const std::uint32_t* const order = t.sorted_order.data();
  simt::launch(stream_, grid(entries), group::ListBordersKernel{}, keys, order, work.long_input.pages, entries,
               t.pages.data(), t.begin.data(), t.end.data());
  const std::uint32_t pages_of_tile = group::tile_slices >> format_.slice_bits;
  work.tiles.count = entries / pages_of_tile + work.longs;
  work.tiles.longs.pages = t.pages.data();
  simt::device_fill(stream_, t.tiles.data(), 0, work.tiles.count * sizeof(group::Tile));
  const std::uint32_t* const begin = t.begin.data();
  const std::uint32_t* const end = t.end.data();
  simt::launch(stream_, grid(std::uint64_t{work.longs} * simt::warp_size), group::PageTilesKernel{}, begin, end,
               work.longs, pages_of_tile, t.tiles.data());
}

void GroupSteps::collect() {
  if (tables_ == 0) return;
  simt::launch(stream_, grid(std::uint64_t{tables_} * group::buckets), group::CollectKernel{}, tables(), format_,
               method_ == GroupMethod::runs, made(), faults());
}

bool GroupSteps::end_pass() {
  simt::copy_to_host(stream_, &known_, state_.data(), sizeof known_);
  return known_.faults.nulls + known_.faults.broken + known_.faults.overflows == 0;
}

GroupPass GroupSteps::last() const {
  GroupPass work;
  work.lists = made();
  const std::uint32_t* const counts = known_.counts[made_];
  work.shorts = std::min(counts[0], work.lists.most_shorts);
  work.mediums = std::min(counts[1], work.lists.most_mediums);
  work.longs = std::min(counts[2], work.lists.most_longs);
  work.entries = std::min(counts[3], work.lists.directory.capacity);
  return work;
}

void GroupSteps::sort_and_encode() {
  Sorting& s = *sorting_;
  s.sort.run(stream_, keys_, 0, 32, s.keys.data(), s.rows.data(), s.sorted_keys.data(), s.sorted_rows.data());
  s.run_lengths.run(stream_, keys_, s.sorted_keys.data(), s.once.data(), s.lengths.data(), s.runs.data());
}

void GroupSteps::read_lists() {
  const GroupPass work = last();
  const group::ListReader reader{screen_->addresses(),  screen_->count(),
                                 screen_->most_pages(), digest_.data(),
                                 read_records_.data(),  read_lists_.data(),
                                 read_count_.data(),    static_cast<std::uint32_t>(read_records_.size())};
  std::uint32_t number = 0;
  const auto read = [&](const group::List* lists, std::uint32_t count) {
    if (count == 0) return;
    simt::LaunchShape shape = grid(count);
    shape.blocks = std::min(shape.blocks, 1024u);
    simt::launch(stream_, shape, group::ReadListsKernel{}, lists, count, number, reader, faults());
    number += count;
  };
  read(work.lists.shorts, work.shorts);
  read(work.lists.mediums, work.mediums);
  read(work.lists.longs, work.longs);
}

std::vector<RecordedBlock> GroupSteps::page_blocks() const {
  if (!screen_) return {};
  return screen_->blocks(format_.bytes, faults_of_sample().nulls);
}

std::string GroupSteps::problem() const {
  if (method_ == GroupMethod::sort) return sorted_problem();
  if (counted_) return counted_->groups() == expected_->groups ? "" : "other groups than those of the keys";
  const PageFaults faults = faults_of_sample();
  if (faults.overflows != 0) return "more lists or shared pages than there is room for";
  if (faults.broken != 0) {
    return std::to_string(faults.broken) + (faults.broken == 1 ? " list has" : " lists have") +
           " a wrong page or several keys";
  }
  const MultisetDigest found = digest_.to_host(stream_).front();
  if (found.count != expected_->groups.count) {
    return std::to_string(found.count) + " groups instead of " + std::to_string(expected_->groups.count);
  }
  if (method_ == GroupMethod::tails && screen_->pages() != expected_->pages[3]) {
    return std::to_string(screen_->pages()) + " pages instead of " + std::to_string(expected_->pages[3]);
  }
  if (read_records_.size() != 0) {
    const std::size_t count = std::min<std::size_t>(read_count_.to_host(stream_).front(), keys_);
    std::vector<std::uint64_t> records = read_records_.to_host(stream_);
    std::vector<std::uint32_t> lists = read_lists_.to_host(stream_);
    records.resize(count);
    lists.resize(count);
    return grouping_problem(*expected_, records, lists);
  }
  return found == expected_->groups ? std::string() : "other groups than those of the keys";
}

std::string GroupSteps::sorted_problem() const {
  const Sorting& s = *sorting_;
  const std::uint32_t runs = s.runs.to_host(stream_).front();
  const std::vector<std::uint32_t> once = s.once.to_host(stream_);
  const std::vector<std::uint32_t> lengths = s.lengths.to_host(stream_);
  const std::vector<std::uint32_t> rows = s.sorted_rows.to_host(stream_);
  MultisetDigest groups;
  std::size_t row = 0;
  for (std::uint32_t run = 0; run < std::min(runs, keys_); ++run) {
    MultisetDigest members;
    for (std::uint32_t i = 0; i < lengths[run] && row < rows.size(); ++i, ++row) members.add(rows[row]);
    groups.add(group_element(once[run], members));
  }
  return groups == expected_->groups ? std::string() : "other groups than those of the keys";
}

}  // namespace allocbench
