#include "workloads/index_nodes/index_nodes.hpp"

#include <bit>
#include <memory>
#include <stdexcept>

#include "workloads/index_nodes/index_reader.hpp"
#include "workloads/index_nodes/kernels.hpp"
#include "workloads/support/contract/outcome.hpp"
#include "workloads/support/inputs/kept_input.hpp"

namespace allocbench {
namespace {

std::uint32_t bucket_mask_of(const IndexNodes::Parameters& p) {
  return std::bit_ceil((p.keys + p.keys_per_bucket - 1) / p.keys_per_bucket) - 1;
}

std::shared_ptr<const index::KeyCourse> course_of(const IndexNodes::Parameters& p, std::uint64_t seed) {
  const std::uint32_t mask = bucket_mask_of(p);
  const std::uint32_t capacity = index::Node::capacity;
  return kept_input<index::KeyCourse>(
      stored_key("keys of an index",
                 {p.keys, p.rounds, std::bit_cast<std::uint64_t>(p.changed_share), mask, capacity, seed}),
      [&] { return index::draw_keys(p.keys, p.rounds, p.changed_share, mask, capacity, seed); });
}

class IndexNodesRun final : public WorkloadRun {
  using Bucket = index::Bucket;
  using HashIndex = index::HashIndex;
  using IndexKernels = index::IndexKernels;
  using KeyOperation = index::KeyOperation;
  using Node = index::Node;
  using Operations = index::Operations;
  using Tally = index::Tally;
  using UpdateIndexKernel = index::UpdateIndexKernel;

 public:
  IndexNodesRun(const IndexNodes::Parameters& p, const RunSetting& setting, simt::Stream& stream)
      : stream_(stream),
        type_(setting.allocator),
        parameters_(p),
        kept_course_(course_of(p, setting.seed)),
        course_(*kept_course_),
        buckets_(std::size_t{bucket_mask_of(p)} + 1),
        tally_(1),
        look_ups_(stream, course_),
        chains_(stream, course_) {
    fail_if_unsupported(why_recycling(course_.mallocs_at_most() * sizeof(index::Node), setting));
    for (const std::vector<KeyOperation>& launch : course_.launches) {
      operations_.emplace_back(launch.size()).from_host(stream, launch);
    }
  }

  void prepare() override {
    buckets_.fill_bytes(stream_, 0);
    tally_.fill_bytes(stream_, 0);
    look_ups_.clear();
    chains_.clear();
  }

  void sample(const AllocatorHandle& allocator, PhaseTimer& timer) override {
    for (std::uint32_t round = 0; round <= parameters_.rounds && tally().failures == 0; ++round) {
      update(allocator, timer, round == 0 ? "build" : "update", round);
      timer.phase("look_up", look_ups_.count(round),
                  [&] { look_ups_.run(hash_index(), round, parameters_.threads_per_block); });
    }
    if (tally().failures == 0) chains_.read(hash_index());
    before_clear_ = tally();
    update(allocator, timer, "clear", parameters_.rounds + 1);
    const Tally all = tally();
    timer.counter("mallocs", all.mallocs);
    timer.counter("frees", all.frees);
    timer.counter("requested_bytes", all.mallocs * sizeof(Node));
  }

  void check_recorded(PointerCheck& check) const override {
    chains_.check(check, before_clear_.failures);
    if (!check.ok() || before_clear_.failures != 0) return;
    fail_if_wrong("index", look_ups_.problem());
    fail_if_wrong("index", chains_.problem());
    fail_if_wrong("index", problem_at_the_end());
  }

  // Returns the requests for all nodes at the end of the last round. One lane per warp makes requests.
  RequestProfile requests() const override {
    return {Geometry::of_callers(course_.first_node.back(), parameters_.threads_per_block, 1),
            RequestSizes::fixed(sizeof(Node))};
  }
  std::optional<std::uint64_t> largest_request() const override { return requests().sizes.largest(); }
  std::uint64_t mallocs_at_most() const override { return course_.mallocs_at_most(); }

  std::vector<KernelInfo> kernels() const override {
    std::vector<KernelInfo> infos;
    for (const char* phase : {"build", "update", "clear"}) {
      infos.push_back(kernel_info<IndexKernels, UpdateIndexKernel, HashIndex, Operations, Tally*>(phase, type_));
    }
    infos.push_back({"look_up", look_ups_.attributes()});
    return infos;
  }

 private:
  HashIndex hash_index() const { return {buckets_.data(), bucket_mask_of(parameters_)}; }
  Tally tally() const { return tally_.to_host(stream_).front(); }

  // The numbers of mallocs and frees depend on the order of the operations, so a phase counts index operations.
  void update(const AllocatorHandle& allocator, PhaseTimer& timer, std::string_view phase, std::uint32_t launch) {
    const auto count = static_cast<std::uint32_t>(operations_[launch].size());
    if (count == 0) return;
    const Operations operations{operations_[launch].data(), count};
    const simt::LaunchShape shape = Geometry::of_callers(count, parameters_.threads_per_block, simt::warp_size).shape();
    timer.phase(phase, count, [&] {
      allocator.launch<IndexKernels>(stream_, shape, UpdateIndexKernel{}, hash_index(), operations, tally_.data());
    });
  }

  std::string problem_at_the_end() const {
    const Tally all = tally();
    if (all.missed != 0) return std::to_string(all.missed) + " deletions did not find their key";
    if (all.frees != all.mallocs) {
      return std::to_string(all.mallocs) + " nodes were allocated and " + std::to_string(all.frees) +
             " freed, although all keys were deleted";
    }
    const std::vector<Bucket> buckets = buckets_.to_host(stream_);
    for (std::size_t bucket = 0; bucket < buckets.size(); ++bucket) {
      if (buckets[bucket].first != 0) return "bucket " + std::to_string(bucket) + " has nodes, but no keys";
    }
    return {};
  }

  simt::Stream& stream_;
  const AllocatorType& type_;
  IndexNodes::Parameters parameters_;
  std::shared_ptr<const index::KeyCourse> kept_course_;
  const index::KeyCourse& course_;
  std::vector<simt::Buffer<KeyOperation>> operations_;  // one buffer per launch
  simt::Buffer<Bucket> buckets_;
  simt::Buffer<Tally> tally_;
  Tally before_clear_{};  // tally of the last sample before `clear`
  index::LookUps look_ups_;
  index::ChainReader chains_;
};

}  // namespace

std::string IndexNodes::unsupported(const Parameters& p, const RunSetting& setting) {
  if (p.threads_per_block % simt::warp_size != 0) {
    throw std::invalid_argument("threads_per_block: warps search together, so blocks must be whole warps");
  }
  if (setting.traits().frees == Frees::in_bulk) {
    return setting.display_name() + " frees all blocks of a session at once; the index frees one node at a time";
  }
  return why_unsupported(Geometry::of_callers(p.keys, p.threads_per_block, 1), sizeof(index::Node), setting);
}

std::unique_ptr<WorkloadRun> IndexNodes::open(const Parameters& parameters, const RunSetting& setting,
                                              simt::Stream& stream) {
  return std::make_unique<IndexNodesRun>(parameters, setting, stream);
}

}  // namespace allocbench
