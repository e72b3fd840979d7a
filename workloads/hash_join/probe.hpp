// This file has the build and the probe of a radix hash join: a block joins one partition of both tables at a time, in
// shared memory.
//
// Papers: Rui & Tu, SSDBM 2017; Pham et al. 2025, appendix B.
//
// The block puts the tuples of R into a chained hash table. Each thread takes tuples of S, walks the chain of each
// tuple's slot and passes every match to `emit`. A partition of R that exceeds the table is joined in rounds, and each
// round probes all tuples of S in this partition.
//
// Tuples carry the hash of their key instead of the key. The hash is a bijection (mix32), so equal hashes mean equal
// keys. The top bits of the hash are the partition; the bits below them choose the slot of the table.
//
// Lanes first walk to their next match and then emit it. So lanes that need a page request it together if the compiler
// lets them converge. Correctness does not depend on this.
#pragma once

#include <cstdint>

#include "simt/simt.hpp"

namespace allocbench {

// A table in the order of its partitions.
struct PartitionedTable {
  const std::uint32_t* hashes;
  const std::uint32_t* rows;
  const std::uint32_t* begin;  // first tuple of each partition, and the number of tuples
};

struct JoinShape {
  std::uint32_t blocks = 1;
  std::uint32_t threads_per_block = 1;
  std::uint32_t partition_bits = 0;
  std::uint32_t table_tuples = 1;  // tuples that fit a block's hash table; an even number
  std::uint32_t slot_bits = 0;     // log2 of the slots of a block's hash table

  SIMT_HOST_FN std::uint32_t partitions() const { return 1u << partition_bits; }
  SIMT_HOST_FN std::uint32_t slots() const { return 1u << slot_bits; }
  std::uint32_t threads() const { return blocks * threads_per_block; }
  simt::LaunchShape launch() const {
    return {blocks, threads_per_block, std::size_t{table_tuples} * (4 + 4 + 2) + std::size_t{slots()} * 4};
  }

  // Returns the shape of a join. Partitions have on average at most `threads_per_block * tuples_per_thread` and at most
  // 1,024 tuples. Tables have room for eight standard deviations more. The number of blocks gives each thread about
  // `tuples_per_thread` tuples of S, or more if there are too few partitions.
  static JoinShape of(std::uint32_t tuples, std::uint32_t tuples_per_thread, std::uint32_t threads_per_block);
};

namespace join {

// The hash table of a block. Each slot holds a chain of tuples. A link is the tuple's index + 1; 0 ends the chain.
class BlockTable {
 public:
  template <class Thread>
  SIMT_FN BlockTable(Thread& thread, const JoinShape& shape) : shape_(shape) {
    auto* const words = thread.template shared<std::uint32_t>(std::size_t{shape.table_tuples} * 5 / 2 + shape.slots());
    heads_ = words;
    hashes_ = heads_ + shape.slots();
    rows_ = hashes_ + shape.table_tuples;
    next_ = reinterpret_cast<std::uint16_t*>(rows_ + shape.table_tuples);
  }

  // Enters tuples begin to end - 1, at most as many as fit. All threads of the block call this function together.
  template <class Thread>
  SIMT_FN void build(Thread& thread, const PartitionedTable& table, std::uint32_t begin, std::uint32_t end) {
    for (std::uint32_t i = thread.rank_in_block(); i < shape_.slots(); i += thread.block_size()) {
      thread.atomic_shared(heads_[i]).store(0u, simt::relaxed);
    }
    thread.block_barrier();
    for (std::uint32_t i = thread.rank_in_block(); i < end - begin; i += thread.block_size()) {
      const std::uint32_t hash = table.hashes[begin + i];
      hashes_[i] = hash;
      rows_[i] = table.rows[begin + i];
      next_[i] = static_cast<std::uint16_t>(thread.atomic_shared(heads_[slot(hash)]).exchange(i + 1, simt::relaxed));
    }
    thread.block_barrier();
  }

  // Returns the first link of the hash's slot, or 0 if the slot is empty.
  SIMT_FN std::uint32_t first(std::uint32_t hash) const { return heads_[slot(hash)]; }
  // Returns the next link to a tuple with this hash, starting with `at` itself, or 0 if there is none.
  SIMT_FN std::uint32_t match(std::uint32_t at, std::uint32_t hash) const {
    while (at != 0 && hashes_[at - 1] != hash) at = next_[at - 1];
    return at;
  }
  SIMT_FN std::uint32_t after(std::uint32_t at) const { return next_[at - 1]; }
  SIMT_FN std::uint32_t row(std::uint32_t at) const { return rows_[at - 1]; }

 private:
  SIMT_FN std::uint32_t slot(std::uint32_t hash) const {
    return shape_.slot_bits == 0 ? 0 : hash << shape_.partition_bits >> (32 - shape_.slot_bits);
  }

  const JoinShape& shape_;
  std::uint32_t* heads_;
  std::uint32_t* hashes_;
  std::uint32_t* rows_;
  std::uint16_t* next_;
};

// Joins the partitions of this block. probe(table, begin, end) probes tuples begin to end - 1 of S. All threads of the
// block call this function together, and probe() must not wait for other warps of the block.
template <class Thread, class Probe>
SIMT_FN void join_partitions(Thread& thread, const JoinShape& shape, const PartitionedTable& r,
                             const PartitionedTable& s, Probe&& probe) {
  BlockTable table(thread, shape);
  for (std::uint32_t partition = thread.block(); partition < shape.partitions(); partition += thread.block_count()) {
    const std::uint32_t r_end = r.begin[partition + 1];
    for (std::uint32_t r_begin = r.begin[partition]; r_begin < r_end;) {
      const std::uint32_t round_end = r_end - r_begin < shape.table_tuples ? r_end : r_begin + shape.table_tuples;
      table.build(thread, r, r_begin, round_end);
      probe(table, s.begin[partition], s.begin[partition + 1]);
      r_begin = round_end;
      thread.block_barrier();  // the next build overwrites the table
    }
  }
}

// Calls emit(row of R, row of S) for all matches of the partitions of this block. All threads of the block call this
// function together, and emit() must not wait for other threads of the block.
template <class Thread, class Emit>
SIMT_FN void join_block(Thread& thread, const JoinShape& shape, const PartitionedTable& r, const PartitionedTable& s,
                        Emit&& emit) {
  join_partitions(thread, shape, r, s, [&](const BlockTable& table, std::uint32_t begin, std::uint32_t end) {
    for (std::uint32_t i = begin + thread.rank_in_block(); i < end; i += thread.block_size()) {
      const std::uint32_t hash = s.hashes[i];
      const std::uint32_t row = s.rows[i];
      std::uint32_t at = table.match(table.first(hash), hash);
      while (at != 0) {
        emit(table.row(at), row);
        at = table.match(table.after(at), hash);
      }
    }
  });
}

// Joins like join_block(), but with all lanes of a warp in step. While a lane has a match, all lanes call emit(has, row
// of R, row of S) together. Blocks must have whole warps.
template <class Thread, class Emit>
SIMT_FN void join_block_by_warps(Thread& thread, const JoinShape& shape, const PartitionedTable& r,
                                 const PartitionedTable& s, Emit&& emit) {
  const auto warp = thread.warp();
  join_partitions(thread, shape, r, s, [&](const BlockTable& table, std::uint32_t begin, std::uint32_t end) {
    for (std::uint32_t first = begin + thread.rank_in_block() - thread.lane(); first < end;
         first += thread.block_size()) {
      const std::uint32_t i = first + thread.lane();
      const std::uint32_t hash = i < end ? s.hashes[i] : 0;
      const std::uint32_t row = i < end ? s.rows[i] : 0;
      std::uint32_t at = i < end ? table.match(table.first(hash), hash) : 0;
      while (warp.any(at != 0)) {
        emit(at != 0, at != 0 ? table.row(at) : 0, row);
        if (at != 0) at = table.match(table.after(at), hash);
      }
    }
  });
}

}  // namespace join
}  // namespace allocbench
