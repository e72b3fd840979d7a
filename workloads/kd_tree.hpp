// kd_tree: persistent warps build a kd-tree; each node's list of triangles is a block of the allocator.
//
// Vinkler & Havran 2015, sec. 5 [DS], table 2. A node splits at the best of 32 planes by the surface area heuristic
// (kd_tree/split_rules.hpp) and asks for the lists of its children, one lane after the other's request; its own list is
// freed, mostly by another warp on another multiprocessor than asked for it. Sizes run from 4 B to nearly all of the
// scene. Warps get nodes from a queue (kd_tree/work_queue.hpp), large nodes are worked on by many (kd_tree/
// warp_builder.hpp). The grid has as many blocks as can be resident with this allocator's registers.
//
// The tree, and with it number and sizes of the requests, depends on the scene alone. Each sample's tree is compared
// with that of a host build, bit for bit. Differs from the authors' program: a queue of tickets in place of a scan of
// the task pool, and a warp whose node is small goes through all of its phases itself.
#pragma once

#include "workloads/alloc_dealloc.hpp"
#include "workloads/common/requirements.hpp"
#include "workloads/contract/outcome.hpp"
#include "workloads/contract/workload.hpp"
#include "workloads/kd_tree/build_memory.hpp"
#include "workloads/kd_tree/warp_builder.hpp"

namespace allocbench {

struct KdTreeKernel {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, kd_tree::BuildSetup setup) const {
    auto&& session = attach(allocator, thread);
    kd_tree::WarpBuilder builder(thread, session, setup);
    builder.run();
    release_all(session, thread);
    detach(session, thread);
  }
};

struct KdTree {
  struct Parameters {
    std::string scene = "lost_empire";
    std::uint32_t subdivisions = 0;
    std::uint32_t triangles = 100'000;
    std::uint32_t depth_limit = 0;
    std::uint32_t failed_splits = 0;
    std::uint64_t padding_bytes = 16;
    std::uint32_t threads_per_block = 256;
    std::uint32_t blocks = 0;
    std::uint32_t solo_references = 512;
    std::uint32_t part_references = 256;
    std::uint32_t queued_tasks = 1 << 16;

    static auto fields() {
      using P = Parameters;
      return std::tuple{
          Field{"scene", &P::scene, "",
                "mesh data/scenes/<scene>.ply.gz (or .ply, .obj.gz, .obj), or made here: terrain, spheres, soup",
                "Vinkler & Havran 2015, table 2; data/README.md"},
          Field{"subdivisions", &P::subdivisions, "", "how often each triangle is cut into four",
                "assumed: for the size of scenes that are not at hand"}
              .between(0, 6),
          Field{"triangles", &P::triangles, "triangles", "size of a scene that is made here", "assumed"}.between(
              16, 1 << 24),
          Field{"depth_limit", &P::depth_limit, "levels", "depth of the tree; 0: 1.2 log2(triangles) + 2",
                "the framework of Vinkler et al., CGF 2013"}
              .between(0, 60),
          Field{"failed_splits", &P::failed_splits, "splits",
                "splits on a path that may save little; 0: 0.26 depth_limit + 1",
                "the framework of Vinkler et al., CGF 2013"}
              .between(0, 60),
          Field{"padding_bytes", &P::padding_bytes, "B", "requests are rounded up to a multiple of it",
                "Vinkler & Havran 2015, sec. 5"}
              .between(1, 4096)
              .powers_of_two(),
          Field{"threads_per_block", &P::threads_per_block, "threads", "threads of a block, whole warps",
                "Vinkler & Havran 2015, table 1"}
              .between(simt::warp_size, most_threads_per_block),
          Field{"blocks", &P::blocks, "blocks",
                "blocks of the grid; 0, or more than can be resident: as many as can be",
                "assumed: equal numbers tell the speed of allocators from the effect of their registers"}
              .between(0, most_blocks),
          Field{"solo_references", &P::solo_references, "references", "a larger node is shared among warps", "assumed"}
              .between(1, 1 << 24),
          Field{"part_references", &P::part_references, "references", "what a warp takes of a shared node", "assumed"}
              .between(32, 1 << 20),
          Field{"queued_tasks", &P::queued_tasks, "tasks", "length of the queue above which warps keep their nodes",
                "assumed"}
              .between(0, 1 << 20)};
    }

    kd_tree::SceneChoice choice(std::uint64_t seed) const {
      return {scene, triangles, subdivisions, depth_limit, failed_splits, seed};
    }
    kd_tree::BuildOptions options() const {
      return {static_cast<std::uint32_t>(padding_bytes), solo_references, part_references, queued_tasks};
    }
  };

  static constexpr WorkloadTraits traits{.name = "kd_tree",
                                         .display_name = "kd-tree build",
                                         .paper = "Vinkler & Havran 2015, sec. 5 [DS]",
                                         .summary = "persistent warps build a kd-tree of nodes with allocated lists",
                                         .phases = "build",
                                         .writes_blocks = true,
                                         .application = true};

  template <class A>
  static std::string unsupported(const Parameters& p, const RunSetting<A>& setting) {
    if (p.threads_per_block % simt::warp_size != 0) {
      throw std::invalid_argument("threads_per_block is " + std::to_string(p.threads_per_block) +
                                  ", allowed: multiples of " + std::to_string(simt::warp_size));
    }
    if (A::traits.frees == Frees::in_bulk) {
      return std::string(A::traits.display_name) + " frees only all blocks of a warp at once: here others use them";
    }
    return why_unsupported<A>(Geometry::of_blocks(1, p.threads_per_block, 1), sizeof(std::uint32_t), setting);
  }

  template <class A>
  class Run {
   public:
    Run(const Parameters& parameters, const RunSetting<A>& setting, simt::Stream& stream)
        : stream_(stream),
          scene_(kd_tree::prepared_scene(parameters.choice(setting.seed))),
          shape_(shape_of(parameters, stream)),
          memory_(stream, scene_, parameters.options(), shape_.blocks * shape_.threads_per_block / simt::warp_size),
          request_bytes_(
              pad(static_cast<std::uint64_t>(scene_->reference.requests.mean()) + 1, parameters.padding_bytes)) {
      const kd_tree::ReferenceTree& reference = scene_->reference;
      const std::uint64_t largest = pad(reference.largest_request, parameters.padding_bytes);
      std::string why = why_unsupported<A>(Geometry::of_blocks(1, shape_.threads_per_block, 1), largest, setting);
      if (why.empty()) {
        why =
            why_recycling<A>(reference.requests.bytes + reference.requests.mallocs * parameters.padding_bytes, setting);
      }
      if (!why.empty()) throw CellFailure(Status::unsupported, why);
    }

    void prepare() { memory_.prepare(); }

    template <class Caller>
    void sample(const Caller& allocator, PhaseTimer& timer) {
      timer.phase("build", 0, [&] { simt::launch(stream_, shape_, KdTreeKernel{}, allocator, memory_.setup()); });
      const kd_tree::BuildTotals totals = memory_.totals();
      const kd_tree::ReferenceTree& reference = scene_->reference;
      timer.set_operations("build", totals.requests.mallocs + totals.frees);
      timer.counter("triangles", std::uint64_t{scene_->boxes.size()});
      timer.counter("references_per_triangle",
                    static_cast<double>(reference.references) / static_cast<double>(scene_->boxes.size()));
      timer.counter("mallocs", totals.requests.mallocs);
      timer.counter("frees", totals.frees);
      timer.counter("requested_bytes", totals.requests.bytes);
      timer.counter("mean_request_bytes", totals.requests.mean());
      timer.counter("deviation_bytes", totals.requests.deviation());
      timer.counter("wrapped_deviation_bytes", totals.requests.wrapped_deviation());
      timer.counter("resident_warps", std::uint64_t{memory_.setup().warps});
    }

    void check_recorded(PointerCheck& check) const {
      const kd_tree::BuildTotals totals = memory_.totals();
      if (totals.requests.mallocs != 0) {
        // One block from the lowest to the highest address: blocks come and go, so they cannot be held against each
        // other.
        const std::uint64_t lowest = ~totals.not_lowest;
        const RecordedBlock all{lowest, totals.end - lowest, 0};
        check.check({&all, 1}, PointerCheck::Live::separately);
        if (!check.ok()) return;
        if ((totals.address_bits & (A::traits.alignment - 1)) != 0) {
          throw CellFailure(Status::incorrect,
                            "a block is not aligned to " + std::to_string(A::traits.alignment) + " B");
        }
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

    // As many requests of mean size as warps make at a time.
    RequestProfile requests() const {
      return {Geometry::of_blocks(shape_.blocks, shape_.threads_per_block, 1), RequestSizes::fixed(request_bytes_)};
    }
    std::uint64_t mallocs_at_most() const { return scene_->reference.requests.mallocs; }

    std::vector<KernelInfo> kernels() const {
      return {{"build", simt::kernel_attributes<KdTreeKernel, A, kd_tree::BuildSetup>()},
              {"one_malloc_one_free", simt::kernel_attributes<AllocDeallocKernel, A, Geometry, FixedSize, void**>()}};
    }

   private:
    static simt::LaunchShape shape_of(const Parameters& p, simt::Stream& stream) {
      const std::size_t shared_bytes = p.threads_per_block / simt::warp_size * sizeof(kd_tree::WarpScratch);
      const std::uint32_t resident =
          simt::max_resident_blocks<KdTreeKernel, A, kd_tree::BuildSetup>(stream, p.threads_per_block, shared_bytes);
      if (resident == 0) {
        throw CellFailure(Status::unsupported, "no block of " + std::to_string(p.threads_per_block) +
                                                   " threads of this kernel fits a multiprocessor");
      }
      return {p.blocks == 0 ? resident : std::min(p.blocks, resident), p.threads_per_block, shared_bytes};
    }

    simt::Stream& stream_;
    std::shared_ptr<const kd_tree::PreparedScene> scene_;
    simt::LaunchShape shape_;
    kd_tree::BuildMemory memory_;
    std::uint64_t request_bytes_;
  };
};

}  // namespace allocbench
