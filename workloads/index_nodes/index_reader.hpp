// This file has the parts of index_nodes that need no allocator: look-ups, and the comparison of all chains with their
// expected contents.
#pragma once

#include <string>
#include <vector>

#include "simt/simt.hpp"
#include "workloads/index_nodes/hash_index.hpp"
#include "workloads/index_nodes/key_course.hpp"
#include "workloads/support/verification/recorded_pointers.hpp"

namespace allocbench::index {

class LookUps {
 public:
  // Keeps a reference to `course`, which must outlive this object.
  LookUps(simt::Stream& stream, const KeyCourse& course);

  std::uint64_t count(std::uint32_t round) const { return course_.look_ups[round].size(); }
  void clear();
  // Enqueues the look-ups of all keys that the index has after the round or had earlier.
  void run(const HashIndex& index, std::uint32_t round, std::uint32_t threads_per_block);
  simt::KernelAttributes attributes() const;
  // Returns a message about the first look-up whose value differs from the host's, or an empty text.
  std::string problem() const;

 private:
  simt::Stream& stream_;
  const KeyCourse& course_;
  std::vector<std::size_t> first_;  // first look-up of each round
  simt::Buffer<std::uint32_t> keys_;
  simt::Buffer<std::uint32_t> values_;
  simt::Buffer<std::uint32_t> expected_;
};

// The contents of a bucket.
struct BucketReading {
  MultisetDigest keys;      // digest of the keys and values
  std::uint32_t nodes;      // nodes in the chain, counted up to one too many
  std::uint32_t strangers;  // nodes of the chain that belong to another bucket
};

class ChainReader {
 public:
  ChainReader(simt::Stream& stream, const KeyCourse& course);

  void clear();
  // Enqueues the read of all chains.
  void read(const HashIndex& index);
  // Checks the nodes that were read, and counts `failures` requests that returned null.
  void check(PointerCheck& check, std::uint64_t failures) const;
  std::string problem() const;

 private:
  simt::Stream& stream_;
  const KeyCourse& course_;
  simt::Buffer<std::uint32_t> first_node_;
  simt::Buffer<BucketReading> readings_;
  RecordedPointers nodes_;
};

}  // namespace allocbench::index
