#include "workloads/hash_join/join_steps.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <span>

#include "workloads/hash_join/keys.hpp"
#include "workloads/support/inputs/stored_value.hpp"

namespace allocbench {
namespace {

struct MakeKeysKernel {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, JoinKeys keys, std::uint32_t* r, std::uint32_t* s,
                          std::uint32_t count) const {
    const std::uint32_t row = thread.rank_in_grid();
    if (row >= count) return;
    r[row] = keys.r(row);
    s[row] = keys.s(row);
  }
};

struct HashKernel {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, const std::uint32_t* keys, std::uint32_t* hashes, std::uint32_t* rows,
                          std::uint32_t count) const {
    const std::uint32_t row = thread.rank_in_grid();
    if (row >= count) return;
    hashes[row] = mix32(keys[row]);
    rows[row] = row;
  }
};

// begin[p] is the first tuple whose partition is p or a later one. The array ends with the number of tuples.
struct BordersKernel {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, const std::uint32_t* hashes, std::uint32_t count, std::uint32_t bits,
                          std::uint32_t* begin) const {
    const std::uint32_t i = thread.rank_in_grid();
    if (i > count) return;
    const std::uint32_t first = i == 0 ? 0 : partition(hashes[i - 1], bits) + 1;
    const std::uint32_t last = i == count ? 1u << bits : partition(hashes[i], bits);
    for (std::uint32_t p = first; p <= last; ++p) begin[p] = i;
  }
  static SIMT_FN std::uint32_t partition(std::uint32_t hash, std::uint32_t bits) {
    return bits == 0 ? 0 : hash >> (32 - bits);
  }
};

struct CountMatchesKernel {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, JoinShape shape, PartitionedTable r, PartitionedTable s,
                          std::uint64_t* counts) const {
    std::uint32_t count = 0;
    join::join_block(thread, shape, r, s, [&count](std::uint32_t, std::uint32_t) { ++count; });
    counts[thread.rank_in_grid()] = count;
  }
};

struct WriteMatchesKernel {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, JoinShape shape, PartitionedTable r, PartitionedTable s,
                          const std::uint64_t* offsets, std::uint64_t* pairs) const {
    std::uint64_t place = offsets[thread.rank_in_grid()];
    join::join_block(thread, shape, r, s, [&](std::uint32_t r_row, std::uint32_t s_row) {
      pairs[place] = join_pair(r_row, s_row);
      ++place;
    });
  }
};

struct CopyPairsKernel {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, PairLists lists, const std::uint64_t* offsets, std::uint64_t* pairs,
                          std::uint64_t most_pairs, PageFaults* faults) const {
    const std::uint32_t list = thread.rank_in_grid();
    if (list >= lists.lists) return;
    std::uint64_t place = offsets[list];
    const bool fits = place + lists.counts[list] <= most_pairs;
    const bool whole = fits && PairChain::for_each_page(lists.newest[list], lists.counts[list],
                                                        [&](std::uint64_t page, std::uint32_t records) {
                                                          const std::uint64_t* const from = PairChain::records(page);
                                                          for (std::uint32_t i = 0; i < records; ++i) {
                                                            pairs[place + i] = from[i];
                                                          }
                                                          place += records;
                                                        });
    if (!whole) thread.atomic(faults->broken).fetch_add(std::uint64_t{1}, simt::relaxed);
  }
};

struct RecordPagesKernel {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, PairLists lists, std::uint64_t* addresses, std::uint32_t* count,
                          std::uint32_t most) const {
    const std::uint32_t list = thread.rank_in_grid();
    if (list >= lists.lists) return;
    PairChain::for_each_page(lists.newest[list], lists.counts[list], [&](std::uint64_t page, std::uint32_t) {
      const auto group = thread.converged();
      std::uint32_t place = 0;
      if (group.leader()) {
        place = thread.atomic(*count).fetch_add(group.num_threads(), simt::relaxed);
      }
      place = group.broadcast(place) + group.thread_rank();
      if (place < most) addresses[place] = page;
    });
  }
};

struct DigestKernel {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, const std::uint64_t* pairs, std::uint64_t count,
                          MultisetDigest* digest) const {
    MultisetDigest own;
    for (std::uint64_t i = thread.rank_in_grid(); i < count; i += thread.grid_size()) own.add(pairs[i]);
    own.add_to(thread, *digest);
  }
};

simt::LaunchShape grid_of_rows(std::uint64_t threads) {
  constexpr std::uint32_t block_threads = 256;
  return {static_cast<std::uint32_t>((threads + block_threads - 1) / block_threads), block_threads};
}

}  // namespace

JoinShape JoinShape::of(std::uint32_t tuples, std::uint32_t tuples_per_thread, std::uint32_t threads_per_block) {
  const std::uint64_t per_block = std::uint64_t{threads_per_block} * tuples_per_thread;
  const auto most = static_cast<std::uint32_t>(std::min<std::uint64_t>(1024, std::bit_floor(per_block)));
  JoinShape shape;
  shape.threads_per_block = threads_per_block;
  shape.partition_bits = static_cast<std::uint32_t>(std::bit_width((tuples - 1) / most));
  const std::uint32_t mean = (tuples - 1) / shape.partitions() + 1;
  shape.slot_bits = static_cast<std::uint32_t>(std::bit_width(mean - 1));
  const auto spread = static_cast<std::uint32_t>(8 * std::sqrt(static_cast<double>(mean)));
  shape.table_tuples = (mean + spread + 3) / 2 * 2;
  shape.blocks =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(shape.partitions(), (tuples + per_block - 1) / per_block));
  return shape;
}

JoinSteps::JoinSteps(simt::Stream& stream, const JoinInput& input, const JoinShape& shape, std::uint64_t page_bytes,
                     std::uint32_t threads_per_list)
    : stream_(stream),
      shape_(shape),
      tuples_(input.tuples),
      page_bytes_(page_bytes),
      threads_per_list_(threads_per_list),
      hashed_(tuples_),
      numbered_(tuples_),
      sort_(tuples_),
      counts_(shape.threads() / threads_per_list),
      offsets_(counts_.size()),
      scan_(static_cast<std::uint32_t>(counts_.size())),
      faults_(1) {
  r_ = empty_table();
  s_ = empty_table();
  make_keys(input);
  expected_ = &known(input);
  pairs_ = simt::Buffer<std::uint64_t>(expected_pairs());
  if (page_bytes == 0) return;
  newest_ = simt::Buffer<std::uint64_t>(counts_.size());
  const std::uint64_t most_pages = counts_.size() + expected_pairs() / PairChain::capacity(page_bytes);
  screen_.emplace(stream, static_cast<std::uint32_t>(most_pages));
}

// Every allocator gets the same input, so a process computes the expected result of an input only once.
const JoinSteps::Expected& JoinSteps::known(const JoinInput& input) {
  static std::map<JoinInput, Expected> all;
  const auto found = all.find(input);
  return found != all.end() ? found->second : all.emplace(input, expected(input)).first->second;
}

// The host can need a second for a large join, so one process of a run computes the result for all processes.
JoinSteps::Expected JoinSteps::expected(const JoinInput& input) {
  constexpr std::uint32_t most_compared = 1u << 16;  // largest input that is compared pair by pair
  if (input.tuples <= most_compared) {
    const JoinTables tables = join_tables(input);
    Expected result{joined_digest(tables), joined_pairs(tables)};
    std::sort(result.sorted_pairs.begin(), result.sorted_pairs.end());
    return result;
  }
  const std::string key = "join of " + std::to_string(input.tuples) + " tuples, " + input.kind + ' ' +
                          std::to_string(std::bit_cast<std::uint64_t>(input.exponent)) + ", seed " +
                          std::to_string(input.seed);
  Expected result;
  std::optional<StoredValue> stored = StoredValue::open(key);
  if (stored && stored->read(&result.digest, 1) && stored->bytes() == 0) return result;
  result.digest = joined_digest(join_tables(input));
  store_value(key, {std::as_bytes(std::span(&result.digest, 1))});
  return result;
}

std::uint64_t JoinSteps::expected_pairs() const { return expected_->digest.count; }

JoinSteps::Table JoinSteps::empty_table() const {
  return {simt::Buffer<std::uint32_t>(tuples_), simt::Buffer<std::uint32_t>(tuples_),
          simt::Buffer<std::uint32_t>(tuples_), simt::Buffer<std::uint32_t>(shape_.partitions() + 1)};
}

void JoinSteps::make_keys(const JoinInput& input) {
  const JoinKeys keys = join_keys(input);
  if (keys.draws_s) {
    simt::launch(stream_, grid_of_rows(tuples_), MakeKeysKernel{}, keys, r_.keys.data(), s_.keys.data(), tuples_);
    return;
  }
  const JoinTables tables = join_tables(input);
  r_.keys.from_host(stream_, tables.r);
  s_.keys.from_host(stream_, tables.s);
}

void JoinSteps::prepare() {
  faults_.fill_bytes(stream_, 0);
  counts_.fill_bytes(stream_, 0);
  newest_.fill_bytes(stream_, 0);
  pairs_.fill_bytes(stream_, poison_byte);
  if (screen_) screen_->clear();
}

void JoinSteps::partition() {
  partition(r_);
  partition(s_);
}

void JoinSteps::partition(Table& table) {
  const std::uint32_t* const keys = table.keys.data();
  simt::launch(stream_, grid_of_rows(tuples_), HashKernel{}, keys, hashed_.data(), numbered_.data(), tuples_);
  sort_.run(stream_, tuples_, 32 - shape_.partition_bits, 32, hashed_.data(), numbered_.data(), table.hashes.data(),
            table.rows.data());
  const std::uint32_t* const hashes = table.hashes.data();
  simt::launch(stream_, grid_of_rows(std::uint64_t{tuples_} + 1), BordersKernel{}, hashes, tuples_,
               shape_.partition_bits, table.begin.data());
}

void JoinSteps::scan_counts() { scan_.run(stream_, counts_.data(), offsets_.data()); }

void JoinSteps::join_in_two_passes() {
  simt::launch(stream_, shape_.launch(), CountMatchesKernel{}, shape_, r(), s(), counts_.data());
  scan_counts();
  const std::uint64_t* const offsets = offsets_.data();
  simt::launch(stream_, shape_.launch(), WriteMatchesKernel{}, shape_, r(), s(), offsets, pairs_.data());
}

PairLists JoinSteps::lists() const {
  return {newest_.data(), counts_.data(), static_cast<std::uint32_t>(counts_.size()), threads_per_list_};
}

void JoinSteps::read_back() {
  scan_counts();
  const std::uint64_t* const offsets = offsets_.data();
  const auto most_pairs = static_cast<std::uint64_t>(pairs_.size());
  simt::launch(stream_, grid_of_rows(counts_.size()), CopyPairsKernel{}, lists(), offsets, pairs_.data(), most_pairs,
               faults_.data());
}

void JoinSteps::record_pages() {
  simt::launch(stream_, grid_of_rows(counts_.size()), RecordPagesKernel{}, lists(), screen_->addresses(),
               screen_->count(), screen_->most_pages());
}

std::vector<RecordedBlock> JoinSteps::page_blocks() const {
  if (!screen_) return {};
  return screen_->blocks(page_bytes_, faults_of_sample().nulls);
}

std::uint64_t JoinSteps::found_pairs() const {
  const std::size_t last = counts_.size() - 1;
  std::uint64_t count = 0;
  std::uint64_t offset = 0;
  simt::copy_to_host(stream_, &count, counts_.data() + last, sizeof count);
  simt::copy_to_host(stream_, &offset, offsets_.data() + last, sizeof offset);
  return offset + count;
}

std::string JoinSteps::problem() const {
  const PageFaults faults = faults_of_sample();
  if (faults.broken != 0) return std::to_string(faults.broken) + " lists have a page that was overwritten";
  const std::uint64_t found = found_pairs();
  if (found != expected_pairs()) {
    return std::to_string(found) + " pairs instead of " + std::to_string(expected_pairs());
  }
  if (!expected_->sorted_pairs.empty()) {
    std::vector<std::uint64_t> pairs = pairs_.to_host(stream_);
    std::sort(pairs.begin(), pairs.end());
    return pairs == expected_->sorted_pairs ? std::string() : "other pairs than those with equal keys";
  }
  simt::Buffer<MultisetDigest> digest(1);
  digest.fill_bytes(stream_, 0);
  const std::uint64_t* const pairs = pairs_.data();
  simt::LaunchShape shape = grid_of_rows(std::max<std::uint64_t>(found, 1));
  shape.blocks = std::min(shape.blocks, 1024u);
  simt::launch(stream_, shape, DigestKernel{}, pairs, found, digest.data());
  return digest.to_host(stream_).front() == expected_->digest ? std::string()
                                                              : "other pairs than those with equal keys";
}

}  // namespace allocbench
