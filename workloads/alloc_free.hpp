// alloc_free: the two-kernel test that all papers on GPU allocators share.
//
// N requests by N threads, one each: a kernel that allocates, then a kernel in which the same threads free. The alloc
// kernel calls malloc and stores the pointer, nothing else. `threads` counts the requests, that is the calling threads:
// with fewer than 32 lanes per warp the grid is larger.
#pragma once

#include "workloads/common/caller_parameters.hpp"
#include "workloads/common/kernels.hpp"
#include "workloads/common/recorded_pointers.hpp"
#include "workloads/common/size_parameters.hpp"
#include "workloads/contract/workload.hpp"

namespace allocbench {

struct AllocFree {
  struct Parameters : CallerParameters, SizeParameters {
    static auto fields() {
      return std::tuple_cat(caller_fields<Parameters>("threads that allocate, one request each", "all papers"),
                            size_fields<Parameters>());
    }
  };

  static constexpr WorkloadTraits traits{.name = "alloc_free",
                                         .display_name = "Alloc, then Free",
                                         .paper = "common to all papers; Winter et al., PPoPP'21, figs. 9 and 10",
                                         .summary = "one kernel of N mallocs, then one kernel of N frees",
                                         .phases = "alloc free"};

  template <class A>
  static std::string unsupported(const Parameters& p, const RunSetting<A>& setting) {
    return why_unsupported<A>(p.geometry(), p.largest_request(), setting);
  }

  template <class A>
  class Run {
   public:
    Run(const Parameters& parameters, const RunSetting<A>& setting, simt::Stream& stream)
        : stream_(stream),
          geometry_(parameters.geometry()),
          sizes_(parameters.request_sizes(parameters.threads, setting.seed), stream),
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
