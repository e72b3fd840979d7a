// alloc_free: the two-kernel test that all papers on GPU allocators share.
//
// N requests by N threads, one each: a kernel that allocates, then a kernel in which the same threads free. The alloc
// kernel calls malloc and stores the pointer, nothing else. `threads` counts the requests, that is the calling threads:
// with fewer than 32 lanes per warp the grid is larger.
#pragma once

#include "workloads/common/kernels.hpp"
#include "workloads/common/recorded_pointers.hpp"
#include "workloads/common/requirements.hpp"
#include "workloads/contract/workload.hpp"

namespace allocbench {

struct AllocFree {
  struct Parameters {
    std::uint32_t threads = 100'000;
    std::uint32_t threads_per_block = 256;
    std::uint32_t lanes_per_warp = 32;
    std::string sizes = "fixed";
    std::uint64_t request_bytes = 16;
    std::uint32_t min_bytes = 4;
    std::uint32_t max_bytes = 8192;
    std::vector<std::uint64_t> list_bytes = {16, 64, 256, 1024, 4096};
    std::vector<std::uint64_t> list_weights = {};

    static auto fields() {
      using P = Parameters;
      constexpr double most_bytes = 1ull << 40;
      constexpr double most_listed = UINT32_MAX;
      return std::tuple{
          Field{"threads", &P::threads, "requests", "threads that allocate, one request each", "all papers"}.between(
              1, 1 << 28),
          Field{"threads_per_block", &P::threads_per_block, "threads", "threads of a block", "Winter et al., PPoPP'21"}
              .between(1, most_threads_per_block),
          Field{"lanes_per_warp", &P::lanes_per_warp, "lanes", "lanes of each warp that allocate",
                "Winter et al., PPoPP'21: 32 in figs. 9.a and 9.b, 1 in fig. 9.c"}
              .between(1, simt::warp_size),
          Field{"sizes", &P::sizes, "",
                "distribution of the request sizes: fixed (request_bytes), uniform (min_bytes to max_bytes), list "
                "(list_bytes with list_weights)",
                "uniform: Winter et al., PPoPP'21, fig. 9.d; list: assumed"}
              .one_of({"fixed", "uniform", "list"}),
          Field{"request_bytes", &P::request_bytes, "B", "size of every request (sizes = fixed)", "all papers"}.between(
              1, most_bytes),
          Field{"min_bytes", &P::min_bytes, "B", "smallest request (sizes = uniform)",
                "Winter et al., PPoPP'21, fig. 9.d"}
              .between(1, most_listed),
          Field{"max_bytes", &P::max_bytes, "B", "largest request (sizes = uniform)",
                "Winter et al., PPoPP'21, fig. 9.d"}
              .between(1, most_listed),
          Field{"list_bytes", &P::list_bytes, "B", "request sizes (sizes = list)", "assumed: a spread of common sizes"}
              .between(1, most_listed),
          Field{"list_weights", &P::list_weights, "", "weights of list_bytes; empty = all equal (sizes = list)",
                "assumed"}
              .between(0, most_listed)};
    }
  };

  static constexpr WorkloadTraits traits{.name = "alloc_free",
                                         .display_name = "Alloc, then Free",
                                         .paper = "common to all papers; Winter et al., PPoPP'21, figs. 9 and 10",
                                         .summary = "one kernel of N mallocs, then one kernel of N frees",
                                         .phases = "alloc free"};

  static Geometry geometry(const Parameters& p) {
    return Geometry::of_callers(p.threads, p.threads_per_block, p.lanes_per_warp);
  }

  static std::uint64_t largest_request(const Parameters& p) {
    if (p.sizes == "uniform") return p.max_bytes;
    if (p.sizes == "list")
      return p.list_bytes.empty() ? 0 : *std::max_element(p.list_bytes.begin(), p.list_bytes.end());
    return p.request_bytes;
  }

  static RequestSizes request_sizes(const Parameters& p, std::uint64_t seed) {
    if (p.sizes == "uniform") return RequestSizes::uniform(p.min_bytes, p.max_bytes, p.threads, seed);
    if (p.sizes == "list") return RequestSizes::list(p.list_bytes, p.list_weights, p.threads, seed);
    return RequestSizes::fixed(p.request_bytes);
  }

  template <class A>
  static std::string unsupported(const Parameters& p, const RunSetting<A>& setting) {
    return why_unsupported<A>(geometry(p), largest_request(p), setting);
  }

  template <class A>
  class Run {
   public:
    Run(const Parameters& parameters, const RunSetting<A>& setting, simt::Stream& stream)
        : stream_(stream),
          geometry_(geometry(parameters)),
          sizes_(request_sizes(parameters, setting.seed), stream),
          results_(stream, geometry_.callers) {}

    void prepare() { results_.poison(); }

    template <class Caller>
    void sample(const Caller& allocator, PhaseTimer& timer) {
      sizes_.visit([&](auto sizes) {
        timer.phase("alloc", geometry_.callers, [&] {
          simt::launch(stream_, geometry_.shape(), AllocKernel{}, allocator, geometry_, sizes, results_.data());
        });
      });
      timer.phase("free", geometry_.callers, [&] {
        simt::launch(stream_, geometry_.shape(), FreeKernel{}, allocator, geometry_, results_.data());
      });
    }

    void check_recorded(PointerCheck& check) const {
      check.check(results_.blocks([&](std::size_t caller) { return sizes_.host()[caller]; }),
                  PointerCheck::Live::together);
    }

    RequestProfile requests() const { return {geometry_, sizes_.host()}; }
    std::uint64_t mallocs_at_most() const { return geometry_.callers; }

    std::vector<KernelInfo> kernels() const {
      std::vector<KernelInfo> infos;
      sizes_.visit([&](auto sizes) {
        infos.push_back({"alloc", simt::kernel_attributes<AllocKernel, A, Geometry, decltype(sizes), void**>()});
      });
      infos.push_back({"free", simt::kernel_attributes<FreeKernel, A, Geometry, void**>()});
      return infos;
    }

   private:
    simt::Stream& stream_;
    Geometry geometry_;
    DeviceSizes sizes_;
    RecordedPointers results_;
  };
};

}  // namespace allocbench
