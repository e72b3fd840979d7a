#include "workloads/kd_tree/kd_tree.hpp"

#include <algorithm>

#include "workloads/alloc_dealloc/kernels.hpp"
#include "workloads/kd_tree/build_memory.hpp"
#include "workloads/kd_tree/kernels.hpp"
#include "workloads/support/contract/outcome.hpp"
#include "workloads/support/verification/pointer_check.hpp"

namespace allocbench {
namespace {

using kd_tree::BuildSetup;

kd_tree::BuildOptions options(const KdTree::Parameters& p) {
  return {static_cast<std::uint32_t>(p.padding_bytes), p.solo_references, p.part_references, p.queued_tasks};
}

simt::LaunchShape shape(const KdTree::Parameters& p, const AllocatorType& type, simt::Stream& stream) {
  const std::size_t shared_bytes = p.threads_per_block / simt::warp_size * sizeof(kd_tree::WarpScratch);
  const std::uint32_t resident = simt::max_resident_blocks(
      stream, kernel_of<KdTreeKernels, KdTreeKernel, BuildSetup>(type), p.threads_per_block, shared_bytes);
  if (resident == 0) {
    throw CellFailure(Status::unsupported, "no block of " + std::to_string(p.threads_per_block) +
                                               " threads of this kernel fits a multiprocessor");
  }
  return {p.blocks == 0 ? resident : std::min(p.blocks, resident), p.threads_per_block, shared_bytes};
}

// Only lane 0 of a warp calls the allocator.
Geometry callers(std::uint32_t blocks, std::uint32_t threads_per_block) {
  return Geometry::of_blocks(blocks, threads_per_block, 1);
}

class KdTreeRun final : public WorkloadRun {
 public:
  KdTreeRun(const KdTree::Parameters& parameters, const RunSetting& setting, simt::Stream& stream)
      : stream_(stream),
        type_(setting.allocator),
        scene_(kd_tree::prepared_scene(parameters.choice(setting.seed))),
        shape_(shape(parameters, type_, stream)),
        memory_(stream, scene_, options(parameters), shape_.blocks * shape_.threads_per_block / simt::warp_size),
        request_bytes_(
            pad(static_cast<std::uint64_t>(scene_->reference.requests.mean()) + 1, parameters.padding_bytes)) {
    const kd_tree::ReferenceTree& reference = scene_->reference;
    largest_request_ = pad(reference.largest_request, parameters.padding_bytes);
    fail_if_unsupported(why_unsupported(callers(1, shape_.threads_per_block), largest_request_, setting));
    fail_if_unsupported(
        why_recycling(reference.requests.bytes + reference.requests.mallocs * parameters.padding_bytes, setting));
  }

  void prepare() override { memory_.prepare(); }

  void sample(const AllocatorHandle& allocator, PhaseTimer& timer) override {
    timer.phase("build", 0, [&] { allocator.launch<KdTreeKernels>(stream_, shape_, KdTreeKernel{}, memory_.setup()); });
    const kd_tree::BuildTotals totals = memory_.totals();
    const auto triangles = static_cast<std::uint64_t>(scene_->boxes.size());
    timer.set_operations("build", totals.requests.mallocs + totals.frees);
    timer.counter("triangles", triangles);
    timer.counter("references_per_triangle",
                  static_cast<double>(scene_->reference.references) / static_cast<double>(triangles));
    timer.counter("mallocs", totals.requests.mallocs);
    timer.counter("frees", totals.frees);
    timer.counter("requested_bytes", totals.requests.bytes);
    timer.counter("mean_request_bytes", totals.requests.mean());
    timer.counter("deviation_bytes", totals.requests.deviation());
    timer.counter("wrapped_deviation_bytes", totals.requests.wrapped_deviation());
    timer.counter("resident_warps", std::uint64_t{memory_.setup().warps});
  }

  void check_recorded(PointerCheck& check) const override {
    const kd_tree::BuildTotals totals = memory_.totals();
    if (totals.requests.mallocs != 0) {
      check_addresses(totals, check);
      if (!check.ok()) return;
    }
    if (const std::uint64_t bytes = memory_.failed_request(); bytes != 0) {
      throw CellFailure(Status::oom, "a request of " + bytes_text(bytes) + " returned null after " +
                                         std::to_string(totals.requests.mallocs) + " requests of " +
                                         bytes_text(totals.requests.bytes) + " in all; the tree needs " +
                                         std::to_string(scene_->reference.requests.mallocs));
    }
    const std::string problem = memory_.problem();
    if (!problem.empty()) throw CellFailure(Status::incorrect, problem);
  }

  // Returns a profile of requests of mean size, one per warp.
  RequestProfile requests() const override {
    return {callers(shape_.blocks, shape_.threads_per_block), RequestSizes::fixed(request_bytes_)};
  }
  std::optional<std::uint64_t> largest_request() const override { return largest_request_; }
  std::uint64_t mallocs_at_most() const override { return scene_->reference.requests.mallocs; }

  std::vector<KernelInfo> kernels() const override {
    return {kernel_info<KdTreeKernels, KdTreeKernel, BuildSetup>("build", type_),
            kernel_info<AllocDeallocKernels, AllocDeallocKernel, Geometry, FixedSize, void**>("one_malloc_one_free",
                                                                                              type_)};
  }

  // Returns the histogram of the reference tree. The device counts only its requests, their bytes and the squares of
  // the bytes; BuildMemory::problem() compares these with the reference's.
  std::vector<Histogram> histograms() const override {
    Histogram sizes{"request_bytes", {}};
    const auto& by_size = scene_->reference.by_size;
    for (std::size_t i = 0; i < by_size.size(); ++i) {
      if (by_size[i] != 0) sizes.bins[std::uint64_t{1} << i] = by_size[i];
    }
    return {sizes};
  }

 private:
  // Checks the alignment of all blocks and the bounds of the range that they occupy. Blocks are allocated and freed at
  // different times, so they are not compared with each other.
  void check_addresses(const kd_tree::BuildTotals& totals, PointerCheck& check) const {
    const std::uint64_t lowest = ~totals.not_lowest;
    const RecordedBlock all{lowest, totals.end - lowest, 0};
    check.check({&all, 1}, PointerCheck::Live::separately);
    if (!check.ok()) return;
    const std::uint32_t alignment = type_.traits.alignment;
    if ((totals.address_bits & (alignment - 1)) != 0) {
      throw CellFailure(Status::incorrect, "a block is not aligned to " + std::to_string(alignment) + " B");
    }
  }

  simt::Stream& stream_;
  const AllocatorType& type_;
  std::shared_ptr<const kd_tree::PreparedScene> scene_;
  simt::LaunchShape shape_;
  kd_tree::BuildMemory memory_;
  std::uint64_t request_bytes_;
  std::uint64_t largest_request_;
};

}  // namespace

std::string KdTree::unsupported(const Parameters& p, const RunSetting& setting) {
  if (p.threads_per_block % simt::warp_size != 0) {
    throw std::invalid_argument("threads_per_block is " + std::to_string(p.threads_per_block) +
                                ", allowed: multiples of " + std::to_string(simt::warp_size));
  }
  if (setting.traits().frees == Frees::in_bulk) {
    return setting.display_name() + " frees only all blocks of a warp at once; here other warps use them";
  }
  return why_unsupported(callers(1, p.threads_per_block), sizeof(std::uint32_t), setting);
}

std::unique_ptr<WorkloadRun> KdTree::open(const Parameters& parameters, const RunSetting& setting,
                                          simt::Stream& stream) {
  return std::make_unique<KdTreeRun>(parameters, setting, stream);
}

}  // namespace allocbench
