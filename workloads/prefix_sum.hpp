// prefix_sum: device malloc against what programs do without one: count, scan, one allocation by the host, fill.
//
// Adinetz & Pleiter 2014, "Halloc vs Prefix Sum + cudaMalloc()". Every thread needs one piece of memory and writes it
// all. Phase `malloc`: one kernel that allocates and writes. Phase `prefix_sum`: a kernel that counts what each thread
// needs, an exclusive scan by a library, the host's look at the sum, one allocation by the host, a kernel that writes;
// the host's waiting is part of it. The frees of both ways are not part of either.
#pragma once

#include "workloads/common/caller_parameters.hpp"
#include "workloads/common/recorded_pointers.hpp"
#include "workloads/common/scan.hpp"
#include "workloads/common/several_kernels.hpp"
#include "workloads/common/size_parameters.hpp"
#include "workloads/contract/workload.hpp"

namespace allocbench {

// Writes the whole words of a block: what the memory was wanted for.
SIMT_FN void write_words(void* block, std::size_t bytes, std::uint32_t value) {
  auto* const words = static_cast<std::uint32_t*>(block);
  for (std::size_t word = 0; word < bytes / 4; ++word) words[word] = value;
}

struct MallocAndFillKernel {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, Geometry geometry, AnySize sizes, bool writes,
                          void** blocks) const {
    const std::uint32_t caller = geometry.caller(thread);
    if (caller == Geometry::no_caller) return;
    auto&& session = attach(allocator, thread);
    void* const block = session.malloc(thread, sizes[caller]);
    blocks[caller] = block;
    if (writes && block != nullptr) write_words(block, sizes[caller], caller);
    detach(session, thread);
  }
};

struct CountKernel {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, Geometry geometry, AnySize sizes, std::uint64_t* counts) const {
    const std::uint32_t caller = geometry.caller(thread);
    if (caller != Geometry::no_caller) counts[caller] = (sizes[caller] + 15) / 16 * 16;
  }
};

struct FillKernel {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, Geometry geometry, AnySize sizes, const std::uint64_t* offsets,
                          std::byte* memory) const {
    const std::uint32_t caller = geometry.caller(thread);
    if (caller != Geometry::no_caller) write_words(memory + offsets[caller], sizes[caller], caller);
  }
};

struct PrefixSum {
  struct Parameters : CallerParameters, SizeParameters {
    static auto fields() {
      return std::tuple_cat(
          caller_fields<Parameters>("threads that need memory, one piece each", "Adinetz & Pleiter 2014, prefix sum"),
          size_fields<Parameters>());
    }
  };

  static constexpr WorkloadTraits traits{.name = "prefix_sum",
                                         .display_name = "Malloc or Prefix Sum",
                                         .paper = "Adinetz & Pleiter 2014, prefix sum",
                                         .summary = "malloc and fill, against count, scan, one allocation and fill",
                                         .phases = "malloc prefix_sum"};

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
          results_(stream, geometry_.callers),
          counts_(geometry_.callers),
          offsets_(geometry_.callers),
          scan_(geometry_.callers) {}

    void prepare() {
      results_.poison();
      counts_.fill_bytes(stream_, 0);
      offsets_.fill_bytes(stream_, 0);
    }

    template <class Caller>
    void sample(const Caller& allocator, PhaseTimer& timer) {
      const bool writes = std::is_same_v<Caller, A>;  // what the checking pass has put into a block must stay there
      timer.phase("malloc", geometry_.callers, [&] {
        simt::launch(stream_, geometry_.shape(), MallocAndFillKernel{}, allocator, geometry_, sizes_.any(), writes,
                     results_.data());
      });
      simt::launch(stream_, geometry_.shape(), FreeKernel{}, allocator, geometry_, results_.data());
      timer.phase("prefix_sum", geometry_.callers, [&] { count_scan_fill(); });
      memory_ = {};
    }

    void check_recorded(PointerCheck& check) const {
      check.check(results_.blocks([&](std::size_t caller) { return sizes_.host()[caller]; }),
                  PointerCheck::Live::together);
    }

    RequestProfile requests() const { return {geometry_, sizes_.host()}; }
    std::uint64_t mallocs_at_most() const { return geometry_.callers; }

    std::vector<KernelInfo> kernels() const {
      return {{"malloc", simt::kernel_attributes<MallocAndFillKernel, A, Geometry, AnySize, bool, void**>()}};
    }

    // The offset of every thread's piece, for tests.
    std::vector<std::uint64_t> offsets() const { return offsets_.to_host(stream_); }

   private:
    void count_scan_fill() {
      simt::launch(stream_, geometry_.shape(), CountKernel{}, geometry_, sizes_.any(), counts_.data());
      scan_.run(stream_, counts_.data(), offsets_.data());
      std::uint64_t last_count = 0;
      std::uint64_t last_offset = 0;
      simt::copy_to_host(stream_, &last_count, counts_.data() + geometry_.callers - 1, sizeof last_count);
      simt::copy_to_host(stream_, &last_offset, offsets_.data() + geometry_.callers - 1, sizeof last_offset);
      memory_ = simt::Buffer<std::byte>(last_offset + last_count);
      simt::launch(stream_, geometry_.shape(), FillKernel{}, geometry_, sizes_.any(),
                   static_cast<const std::uint64_t*>(offsets_.data()), memory_.data());
    }

    simt::Stream& stream_;
    Geometry geometry_;
    DeviceSizes sizes_;
    RecordedPointers results_;
    simt::Buffer<std::uint64_t> counts_;
    simt::Buffer<std::uint64_t> offsets_;
    ExclusiveScan scan_;
    simt::Buffer<std::byte> memory_;
  };
};

}  // namespace allocbench
