#include "workloads/kd_tree/build_memory.hpp"

#include <algorithm>
#include <numeric>

#include "workloads/kd_tree/tree_check.hpp"

namespace allocbench::kd_tree {
namespace {

struct ParentsKernel {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, const Node* nodes, std::uint32_t count, std::uint32_t* parents) const {
    for (std::uint32_t i = thread.rank_in_grid(); i < count; i += thread.grid_size()) {
      const Node node = nodes[i];
      if (node.plane() >= Node::leaf || 2 * node.first() + 1 >= count) continue;
      // In a wrong tree two nodes may have the same children. Then either of them may be stored as the parent.
      thread.atomic(parents[2 * node.first()]).store(i, simt::relaxed);
      thread.atomic(parents[2 * node.first() + 1]).store(i, simt::relaxed);
    }
  }
};

// Each thread walks from its node up to the root to get the node's path.
struct DigestKernel {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, const Node* nodes, const std::uint32_t* parents, std::uint32_t count,
                          const std::uint32_t* references, std::uint32_t reference_count, TreeDigest* digest) const {
    TreeDigest own{};
    for (std::uint32_t i = thread.rank_in_grid(); i < count; i += thread.grid_size()) {
      const Node node = nodes[i];
      if (node.plane() > Node::leaf) continue;  // the node has not been written
      const std::uint64_t path = path_of(i, parents, count);
      if (node.plane() < Node::leaf) {
        ++own.inner;
        own.hash += inner_hash(path, node.plane(), node.value);
        continue;
      }
      std::uint64_t sum = 0;
      for (std::uint32_t each = 0; each < node.value && node.first() + each < reference_count; ++each) {
        sum += reference_hash(references[node.first() + each]);
      }
      ++own.leaves;
      own.references += node.value;
      own.hash += leaf_hash(path, node.value, sum);
    }
    if (own.inner + own.leaves == 0) return;
    thread.atomic(digest->hash).fetch_add(own.hash, simt::relaxed);
    thread.atomic(digest->leaves).fetch_add(own.leaves, simt::relaxed);
    thread.atomic(digest->inner).fetch_add(own.inner, simt::relaxed);
    thread.atomic(digest->references).fetch_add(own.references, simt::relaxed);
  }

  static SIMT_FN std::uint64_t path_of(std::uint32_t node, const std::uint32_t* parents, std::uint32_t count) {
    std::uint64_t turns = 0;
    std::uint32_t depth = 0;
    for (; node > 1 && node < count && depth < 63; ++depth) {
      turns |= std::uint64_t{node & 1} << depth;
      node = parents[node];
    }
    return turns | std::uint64_t{1} << depth;
  }
};

enum Word : std::uint32_t { tail, head, finished, parts, out_of_memory, overflow, word_count };

// Largest number of parts that may be in the queue at once. If the parts of a further node would exceed this number,
// one warp splits this node alone.
constexpr std::uint32_t most_parts = 1u << 15;
// A path has a bit per level in a word of 64 bits, so the depth is limited.
constexpr std::uint32_t deepest = 60;

}  // namespace

BuildMemory::BuildMemory(simt::Stream& stream, std::shared_ptr<const PreparedScene> scene, const BuildOptions& options,
                         std::uint32_t warps)
    : stream_(stream), scene_(std::move(scene)) {
  const ReferenceTree& reference = scene_->reference;
  if (reference.limits.depth > deepest) {
    throw std::invalid_argument("a depth limit of " + std::to_string(reference.limits.depth) + ", allowed: up to " +
                                std::to_string(deepest));
  }
  setup_.triangles = static_cast<std::uint32_t>(scene_->boxes.size());
  setup_.bounds = scene_->bounds;
  setup_.limits = reference.limits;
  setup_.padding_bytes = options.padding_bytes;
  setup_.solo_references = options.solo_references;
  setup_.part_references = options.part_references;
  setup_.most_parts = most_parts;
  setup_.stack_slots = reference.limits.depth + 2;
  setup_.warps = warps;
  setup_.most_pairs =
      static_cast<std::uint32_t>(reference.leaves);  // one pair for the root, and one for each inner node
  setup_.most_references = static_cast<std::uint32_t>(reference.references);
  setup_.queue.room_limit = options.queued_tasks;
  setup_.queue.size_log2 = WorkQueue::size_log2_for(options.queued_tasks, most_parts, warps);

  boxes_ = simt::Buffer<TriangleBox>(scene_->boxes.size());
  boxes_.from_host(stream_, scene_->boxes);
  std::vector<std::uint32_t> all(scene_->boxes.size());
  std::iota(all.begin(), all.end(), 0u);
  root_list_ = simt::Buffer<std::uint32_t>(all.size());
  root_list_.from_host(stream_, all);
  slots_ = simt::Buffer<QueueSlot>(std::size_t{1} << setup_.queue.size_log2);
  words_ = simt::Buffer<SharedWord>(word_count);
  shared_nodes_ = simt::Buffer<SharedNode>(BuildSetup::most_shared_nodes);
  shared_node_bits_ = simt::Buffer<std::uint32_t>(BuildSetup::shared_node_words);
  stacks_ = simt::Buffer<Task>(std::size_t{warps} * setup_.stack_slots);
  nodes_ = simt::Buffer<Node>(std::size_t{2} * setup_.most_pairs);
  parents_ = simt::Buffer<std::uint32_t>(nodes_.size());
  leaf_references_ = simt::Buffer<std::uint32_t>(std::max<std::size_t>(setup_.most_references, 1));
  used_ = simt::Buffer<std::uint64_t>(1);
  totals_ = simt::Buffer<BuildTotals>(1);
  digest_ = simt::Buffer<TreeDigest>(1);
  point_to_buffers();
}

void BuildMemory::point_to_buffers() {
  setup_.boxes = boxes_.data();
  setup_.root_list = root_list_.data();
  setup_.queue.slots = slots_.data();
  setup_.queue.tail = words_.data() + tail;
  setup_.queue.head = words_.data() + head;
  setup_.queue.finished = words_.data() + finished;
  setup_.parts = words_.data() + parts;
  setup_.out_of_memory = words_.data() + out_of_memory;
  setup_.overflow = words_.data() + overflow;
  setup_.shared_nodes = shared_nodes_.data();
  setup_.shared_node_bits = shared_node_bits_.data();
  setup_.stacks = stacks_.data();
  setup_.nodes = nodes_.data();
  setup_.leaf_references = leaf_references_.data();
  setup_.used = used_.data();
  setup_.totals = totals_.data();
}

void BuildMemory::prepare() {
  slots_.fill_bytes(stream_, 0);
  words_.fill_bytes(stream_, 0);
  shared_node_bits_.fill_bytes(stream_, 0);
  nodes_.fill_bytes(stream_, 0xff);
  leaf_references_.fill_bytes(stream_, 0xff);
  used_.fill_bytes(stream_, 0);
  totals_.fill_bytes(stream_, 0);
}

BuildTotals BuildMemory::totals() const { return totals_.to_host(stream_).front(); }

std::uint64_t BuildMemory::failed_request() const {
  const std::uint32_t word = words_.to_host(stream_)[out_of_memory].word;
  return word == 0 ? 0 : (std::uint64_t{word} - 1) * sizeof(std::uint32_t);
}

std::string BuildMemory::problem() const {
  const std::vector<SharedWord> words = words_.to_host(stream_);
  if (words[finished].word + setup_.warps != words[tail].word) {
    return std::to_string(words[tail].word - setup_.warps) + " tasks were made and " +
           std::to_string(words[finished].word) + " done";
  }
  const BuildTotals built = totals();
  if (digest() != scene_->reference.digest || words[overflow].word != 0) {
    std::string difference = tree_problem({nodes_.to_host(stream_), leaf_references_.to_host(stream_)}, *scene_);
    if (difference.empty()) difference = "it has nodes that belong to no other";
    return "the tree differs from the reference: " + difference;
  }
  if (built.requests != scene_->reference.requests) {
    return std::to_string(built.requests.mallocs) + " requests of " + std::to_string(built.requests.bytes) +
           " B instead of " + std::to_string(scene_->reference.requests.mallocs) + " of " +
           std::to_string(scene_->reference.requests.bytes) + " B";
  }
  if (built.frees != built.requests.mallocs) {
    return std::to_string(built.requests.mallocs) + " lists were allocated and " + std::to_string(built.frees) +
           " freed";
  }
  return {};
}

TreeDigest BuildMemory::digest() const {
  constexpr std::uint32_t threads = 256;
  const std::uint32_t blocks = 4 * stream_.device().properties().sm_count;
  const auto count = static_cast<std::uint32_t>(nodes_.size());
  simt::device_fill(stream_, parents_.data(), 0xff, parents_.size() * sizeof(std::uint32_t));
  simt::device_fill(stream_, digest_.data(), 0, sizeof(TreeDigest));
  const Node* const nodes = nodes_.data();
  const std::uint32_t* const parents = parents_.data();
  const std::uint32_t* const references = leaf_references_.data();
  simt::launch(stream_, {.blocks = blocks, .threads_per_block = threads}, ParentsKernel{}, nodes, count,
               parents_.data());
  simt::launch(stream_, {.blocks = blocks, .threads_per_block = threads}, DigestKernel{}, nodes, parents, count,
               references, setup_.most_references, digest_.data());
  return digest_.to_host(stream_).front();
}

}  // namespace allocbench::kd_tree
