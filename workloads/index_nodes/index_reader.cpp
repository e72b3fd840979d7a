#include "workloads/index_nodes/index_reader.hpp"

#include "workloads/support/requests/geometry.hpp"

namespace allocbench::index {
namespace {

// A warp searches 32 keys, one after the other. The value of a key that is not found is 0.
struct LookUpKernel {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, HashIndex index, const std::uint32_t* keys, std::uint32_t count,
                          std::uint32_t* values) const {
    const std::uint32_t lane = thread.lane();
    const std::uint32_t begin = thread.rank_in_grid() - lane;
    if (begin >= count) return;
    const auto warp = thread.warp();
    const std::uint32_t mine = begin + lane < count ? keys[begin + lane] : 0;
    for (std::uint32_t i = 0; i < simt::warp_size && begin + i < count; ++i) {
      const std::uint32_t key = warp.shfl_lane(mine, i);
      const Found found = find(thread, index.buckets[index.bucket_of(key)], key);
      if (lane == i) values[begin + i] = found.node == nullptr ? 0 : found.node->values[found.slot];
    }
  }
};

struct CompareValuesKernel {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, const std::uint32_t* values, const std::uint32_t* expected,
                          std::uint64_t count, std::uint32_t* wrong) const {
    for (std::uint64_t i = thread.rank_in_grid(); i < count; i += thread.grid_size()) {
      if (values[i] != expected[i]) thread.atomic(*wrong).fetch_add(1u, simt::relaxed);
    }
  }
};

// Each thread reads one bucket. It stops in a chain that is longer than expected.
struct ReadChainsKernel {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, HashIndex index, const std::uint32_t* first_node, BucketReading* readings,
                          void** nodes) const {
    const std::uint32_t bucket = thread.rank_in_grid();
    if (bucket > index.mask) return;
    const std::uint32_t expected = first_node[bucket + 1] - first_node[bucket];
    BucketReading reading{};
    std::uint64_t address = index.buckets[bucket].first;
    for (; address != 0 && reading.nodes < expected; address = node_at(address)->next) {
      const Node* const node = node_at(address);
      nodes[first_node[bucket] + reading.nodes] = node_at(address);
      if (node->bucket != bucket) ++reading.strangers;
      for (std::uint32_t slot = 0; slot < node->count && slot < Node::capacity; ++slot) {
        reading.keys.add(std::uint64_t{node->keys[slot]} << 32 | node->values[slot]);
      }
      ++reading.nodes;
    }
    if (address != 0) ++reading.nodes;
    readings[bucket] = reading;
  }
};

}  // namespace

LookUps::LookUps(simt::Stream& stream, const KeyCourse& course) : stream_(stream), course_(course) {
  std::vector<std::uint32_t> keys;
  std::vector<std::uint32_t> expected;
  for (const std::vector<KeyOperation>& round : course.look_ups) {
    first_.push_back(keys.size());
    for (const KeyOperation& each : round) {
      keys.push_back(each.key);
      expected.push_back(each.value);
    }
  }
  keys_ = simt::Buffer<std::uint32_t>(keys.size());
  keys_.from_host(stream, keys);
  values_ = simt::Buffer<std::uint32_t>(keys.size());
  expected_ = simt::Buffer<std::uint32_t>(keys.size());
  expected_.from_host(stream, expected);
}

void LookUps::clear() { values_.fill_bytes(stream_, 0xff); }

void LookUps::run(const HashIndex& index, std::uint32_t round, std::uint32_t threads_per_block) {
  const auto keys = static_cast<std::uint32_t>(count(round));
  simt::launch(stream_, Geometry::of_callers(keys, threads_per_block, simt::warp_size).shape(), LookUpKernel{}, index,
               static_cast<const std::uint32_t*>(keys_.data()) + first_[round], keys, values_.data() + first_[round]);
}

simt::KernelAttributes LookUps::attributes() const {
  return simt::kernel_attributes<LookUpKernel, HashIndex, const std::uint32_t*, std::uint32_t, std::uint32_t*>();
}

// The device compares the values, and the host reports the mistakes.
std::string LookUps::problem() const {
  simt::Buffer<std::uint32_t> wrong(1);
  wrong.fill_bytes(stream_, 0);
  simt::launch(stream_, {.blocks = 256, .threads_per_block = 128}, CompareValuesKernel{},
               static_cast<const std::uint32_t*>(values_.data()), static_cast<const std::uint32_t*>(expected_.data()),
               static_cast<std::uint64_t>(values_.size()), wrong.data());
  if (wrong.to_host(stream_).front() == 0) return {};
  const std::vector<std::uint32_t> values = values_.to_host(stream_);
  std::size_t place = 0;
  for (std::size_t round = 0; round < course_.look_ups.size(); ++round) {
    for (const KeyOperation& expected : course_.look_ups[round]) {
      const std::uint32_t value = values[place++];
      if (value == expected.value) continue;
      const std::string when = " after round " + std::to_string(round);
      const std::string key = "key " + std::to_string(expected.key);
      if (value == 0) return key + " is not found" + when;
      if (expected.value == 0) return key + " is found" + when + ", although it was deleted";
      return key + " has the value " + std::to_string(value) + " instead of " + std::to_string(expected.value) + when;
    }
  }
  return {};
}

ChainReader::ChainReader(simt::Stream& stream, const KeyCourse& course)
    : stream_(stream),
      course_(course),
      first_node_(course.first_node.size()),
      readings_(course.buckets.size()),
      nodes_(stream, course.first_node.back()) {
  first_node_.from_host(stream, course.first_node);
}

void ChainReader::clear() {
  readings_.fill_bytes(stream_, 0);
  nodes_.poison();
}

void ChainReader::read(const HashIndex& index) {
  simt::launch(stream_, Geometry::of_callers(index.mask + 1, 128, simt::warp_size).shape(), ReadChainsKernel{}, index,
               static_cast<const std::uint32_t*>(first_node_.data()), readings_.data(), nodes_.data());
}

void ChainReader::check(PointerCheck& check, std::uint64_t failures) const {
  const auto bytes_of = [](std::size_t) { return std::uint64_t{sizeof(Node)}; };
  std::vector<RecordedBlock> blocks;
  if (!nodes_.add_if_right(check, {sizeof(Node)}, bytes_of, PointerCheck::Live::together)) {
    blocks = nodes_.blocks(bytes_of);
    std::erase_if(blocks, [](const RecordedBlock& block) { return block.address == poisoned_slot; });
  }
  for (std::uint64_t i = 0; i < failures; ++i) blocks.push_back({0, sizeof(Node), blocks.size()});
  check.check(blocks, PointerCheck::Live::together);
}

std::string ChainReader::problem() const {
  const std::vector<BucketReading> readings = readings_.to_host(stream_);
  for (std::size_t bucket = 0; bucket < readings.size(); ++bucket) {
    const BucketReading& found = readings[bucket];
    const std::string name = "bucket " + std::to_string(bucket);
    const MultisetDigest& expected = course_.buckets[bucket];
    if (found.keys.count != expected.count) {
      return name + " has " + std::to_string(found.keys.count) + " keys instead of " + std::to_string(expected.count);
    }
    if (!(found.keys == expected)) return name + " has other keys or values than it should";
    const std::uint32_t nodes = course_.first_node[bucket + 1] - course_.first_node[bucket];
    if (found.nodes != nodes) {
      return name + " has " + (found.nodes > nodes ? "more than " : "fewer than ") + std::to_string(nodes) + " nodes";
    }
    if (found.strangers != 0) return name + " has nodes of another bucket";
  }
  return {};
}

}  // namespace allocbench::index
