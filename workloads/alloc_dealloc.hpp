// alloc_dealloc (AD): allocate and free at once, in one kernel.
//
// Vinkler & Havran 2015, sec. 5, after Huang et al. 2010. The pointer is stored before it is freed; when the store
// lands, another thread may own the block already, so pointers are checked one by one and not against each other.
#pragma once

#include "workloads/common/recorded_pointers.hpp"
#include "workloads/common/sm_confinement.hpp"
#include "workloads/common/warp_parameters.hpp"
#include "workloads/contract/workload.hpp"

namespace allocbench {

struct AllocDeallocKernel {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, Geometry geometry, FixedSize size, void** blocks) const {
    const std::uint32_t caller = geometry.caller(thread);
    if (caller == Geometry::no_caller) return;
    auto&& session = attach(allocator, thread);
    void* block = session.malloc(thread, size[caller]);
    blocks[caller] = block;
    session.free(thread, block);
    release_all(session, thread);
    detach(session, thread);
  }
};

struct AllocDealloc {
  struct Parameters : WarpParameters, SmParameters {
    static auto fields() { return std::tuple_cat(warp_fields<Parameters>(), sm_fields<Parameters>()); }
  };

  static constexpr WorkloadTraits traits{.name = "alloc_dealloc",
                                         .display_name = "Alloc Dealloc",
                                         .paper = "Vinkler & Havran 2015, sec. 5 [AD]",
                                         .summary = "every caller allocates one block and frees it at once",
                                         .phases = "total"};

  template <class A>
  static std::string unsupported(const Parameters& p, const RunSetting<A>& setting) {
    return why_unsupported<A>(p.geometry(), p.padded_bytes(), setting);
  }

  template <class A>
  class Run {
   public:
    Run(const Parameters& parameters, const RunSetting<A>&, simt::Stream& stream)
        : geometry_(parameters.geometry()),
          size_{parameters.padded_bytes()},
          results_(stream, geometry_.callers),
          confinement_(stream, parameters) {}

    void prepare() {
      results_.poison();
      confinement_.prepare();
    }

    template <class Caller>
    void sample(const Caller& allocator, PhaseTimer& timer) {
      timer.phase("total", 2ull * geometry_.callers, [&] {
        confinement_.template launch<std::is_same_v<Caller, A>>(geometry_.shape(), AllocDeallocKernel{}, allocator,
                                                                geometry_, size_, results_.data());
      });
    }

    void check_recorded(PointerCheck& check) const {
      check.check(results_.blocks([&](std::size_t) { return size_.bytes; }), PointerCheck::Live::separately);
    }

    RequestProfile requests() const { return {geometry_, RequestSizes::fixed(size_.bytes)}; }
    std::uint64_t mallocs_at_most() const { return geometry_.callers; }

    std::vector<KernelInfo> kernels() const {
      return {{"total", confinement_.template attributes<AllocDeallocKernel, A, Geometry, FixedSize, void**>()}};
    }

   private:
    Geometry geometry_;
    FixedSize size_;
    RecordedPointers results_;
    SmConfinement confinement_;
  };
};

}  // namespace allocbench
