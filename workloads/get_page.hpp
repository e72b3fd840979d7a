// get_page: page requests and frees at a given share of free pages.
//
// Pham et al. 2025, sections 5.1 and 5.2: the getPage and freePage unit tests (figures 11 to 13 and 16). Before each
// sample pages are put into use until `free_share` of them is left (workloads/common/occupancy.hpp), untimed; then N
// threads, `lanes_per_warp` of each warp, request one page each in one kernel and free it in the next. Nothing is freed
// while pages are requested, so N requests leave N pages less. Requests that the allocator refuses are counted.
//
// With `cycles` the kernels also read the clock around every call: the mean of its cycles per operation is then a
// counter of the sample, and the reads are part of the time.
#pragma once

#include <cmath>
#include <numeric>

#include "workloads/common/caller_parameters.hpp"
#include "workloads/common/kernels.hpp"
#include "workloads/common/observed.hpp"
#include "workloads/common/occupancy.hpp"
#include "workloads/common/recorded_pointers.hpp"
#include "workloads/contract/workload.hpp"

namespace allocbench {

// AllocKernel and FreeKernel with the cycles of each call.
struct AllocCyclesKernel {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, Geometry geometry, FixedSize size, void** blocks,
                          std::uint32_t* cycles) const {
    const std::uint32_t caller = geometry.caller(thread);
    if (caller == Geometry::no_caller) return;
    auto&& session = attach(allocator, thread);
    const std::uint64_t begin = thread.clock();
    void* const block = session.malloc(thread, size[caller]);
    cycles[caller] = static_cast<std::uint32_t>(thread.clock() - begin);
    blocks[caller] = block;
    detach(session, thread);
  }
};
struct FreeCyclesKernel {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, Geometry geometry, void** blocks, std::uint32_t* cycles) const {
    const std::uint32_t caller = geometry.caller(thread);
    if (caller == Geometry::no_caller) return;
    auto&& session = attach(allocator, thread);
    void* const block = blocks[caller];
    const std::uint64_t begin = thread.clock();
    session.free(thread, block);
    cycles[caller] = static_cast<std::uint32_t>(thread.clock() - begin);
    detach(session, thread);
  }
};

struct GetPage {
  struct Parameters : CallerParameters {
    std::uint64_t request_bytes = 256;
    double free_share = 0.5;
    std::string pattern = "uniform";
    std::uint32_t cluster_pages = 1;
    bool held = false;
    bool cycles = false;

    Parameters() {
      threads = 5'000;
      threads_per_block = 32;  // as in the authors' public code
    }

    static auto fields() {
      using P = Parameters;
      return std::tuple_cat(
          caller_fields<P>("threads that request a page, one each", "Pham et al. 2025, fig. 11: of a million pages"),
          std::tuple{
              Field{"request_bytes", &P::request_bytes, "B", "size of every request, at most a page of the allocator",
                    "Pham et al. 2025, sec. 5.2"}
                  .between(1, 1ull << 40),
              Field{"free_share", &P::free_share, "fraction", "share of the pages that is free before the requests",
                    "Pham et al. 2025, fig. 11: 50, 10, 1 and 0.5 %"}
                  .between(0, 1),
              Field{"pattern", &P::pattern, "",
                    "where the pages in use lie: uniform (by chance), first_fit (in front), self_filled (where the "
                    "allocator's malloc put them)",
                    "assumed: the paper presets some pages"}
                  .one_of({"uniform", "first_fit", "self_filled"}),
              Field{"cluster_pages", &P::cluster_pages, "pages",
                    "uniform pattern: groups of so many neighbouring pages are in use or free together",
                    "Pham et al. 2025, sec. 4.2: clusters of free pages, as a share of them; assumed: equal sizes"}
                  .between(1, 1 << 16)
                  .powers_of_two(),
              Field{"held", &P::held, "",
                    "every caller takes a page before and holds it; free_share is what is left then",
                    "Pham et al. 2025, sec. 4.2: CRW starts beside the page a thread took last"},
              Field{"cycles", &P::cycles, "", "read the clock around every call", "Pham et al. 2025, fig. 16"}});
    }
  };

  static constexpr WorkloadTraits traits{.name = "get_page",
                                         .display_name = "GetPage, FreePage",
                                         .paper = "Pham et al. 2025, secs. 5.1 and 5.2",
                                         .summary =
                                             "one kernel of page requests at a given share of free pages, then one "
                                             "of their frees",
                                         .phases = "alloc free",
                                         .null_expected = true};

  static constexpr std::uint64_t most_requests_before = 1ull << 27;

  // Where pages are not marked, as many requests as fill the pool.
  static std::uint64_t requests_before(const Parameters& p, std::size_t pool_bytes) {
    const double requests = static_cast<double>(pool_bytes) / static_cast<double>(pad(p.request_bytes, 16));
    return static_cast<std::uint64_t>(p.pattern == "self_filled" ? std::llround(requests * (1 - p.free_share))
                                                                 : static_cast<long long>(requests));
  }

  template <class A>
  static std::string unsupported(const Parameters& p, const RunSetting<A>& setting) {
    if (A::traits.frees != Frees::individually) {
      return std::string(A::traits.display_name) + " does not free single blocks: no pages could be made free before";
    }
    if (A::traits.whole_warp_calls && p.pattern != "self_filled") {
      return std::string(A::traits.display_name) +
             " needs all lanes of a warp to call together, also when single "
             "pages are made free before";
    }
    if (requests_before(p, setting.pool_bytes) > most_requests_before) {
      return std::to_string(requests_before(p, setting.pool_bytes)) +
             " requests would fill the pool; this workload keeps " + std::to_string(most_requests_before) + " at most";
    }
    return why_unsupported<A>(p.geometry(), p.request_bytes, setting);
  }

  template <class A>
  class Run {
   public:
    Run(const Parameters& parameters, const RunSetting<A>& setting, simt::Stream& stream)
        : stream_(stream),
          parameters_(parameters),
          seed_(setting.seed),
          geometry_(parameters.geometry()),
          size_{parameters.request_bytes},
          marks_(marks_pages && parameters.pattern != "self_filled"),
          requests_before_(marks_ ? 0 : static_cast<std::uint32_t>(requests_before(parameters, setting.pool_bytes))),
          occupants_(stream, requests_before_),
          results_(stream, geometry_.callers),
          held_(stream, parameters.held ? geometry_.callers : 0),
          cycles_(parameters.cycles ? geometry_.callers : 0) {}

    // Each repetition has its own pages in use.
    void prepare() {
      results_.poison();
      ++seed_;
    }

    template <class Caller>
    void sample(const Caller& allocator, PhaseTimer& timer) {
      if constexpr (marks_pages) {
        if (marks_) {
          A handle = bare(allocator);
          with_pattern(handle.page_count(), [&](const auto& used) { handle.occupy(stream_, used); });
          with_held_pages(allocator, timer);
          handle.reset(stream_);
          return;
        }
      }
      with_pattern(requests_before_, [&](const auto& used) {
        occupants_.enter(uncounted(allocator), size_.bytes, used);
        with_held_pages(allocator, timer);
        occupants_.leave(uncounted(allocator), used);
      });
    }

    void check_recorded(PointerCheck& check) const {
      check.check(results_.blocks([&](std::size_t) { return size_.bytes; }), PointerCheck::Live::together);
    }

    RequestProfile requests() const { return {geometry_, RequestSizes::fixed(size_.bytes)}; }
    std::uint64_t mallocs_at_most() const {
      return std::uint64_t{requests_before_} + geometry_.callers * (parameters_.held ? 2ull : 1ull);
    }

    std::vector<KernelInfo> kernels() const {
      if (parameters_.cycles) {
        return {{"alloc", simt::kernel_attributes<AllocCyclesKernel, A, Geometry, FixedSize, void**, std::uint32_t*>()},
                {"free", simt::kernel_attributes<FreeCyclesKernel, A, Geometry, void**, std::uint32_t*>()}};
      }
      return {{"alloc", simt::kernel_attributes<AllocKernel, A, Geometry, FixedSize, void**>()},
              {"free", simt::kernel_attributes<FreeKernel, A, Geometry, void**>()}};
    }

   private:
    static constexpr bool marks_pages = MarksPages<A> && A::traits.fresh == Fresh::by_reset;

    // Calls `use` with the predicate that says which of `count` pages or requests are in use.
    template <class Use>
    void with_pattern(std::uint32_t count, Use&& use) const {
      if (parameters_.pattern == "self_filled") return use(FirstPages{count});
      const std::int64_t held = parameters_.held ? geometry_.callers : 0;
      const auto in_use = static_cast<std::uint32_t>(
          std::max<std::int64_t>(std::llround(count * (1 - parameters_.free_share)) - held, 0));
      if (parameters_.pattern == "first_fit" || count == 0) return use(FirstPages{in_use});
      use(RandomSubset(count, in_use, seed_, parameters_.cluster_pages));
    }

    template <class Caller>
    void with_held_pages(const Caller& allocator, PhaseTimer& timer) {
      if (!parameters_.held) return requests_and_frees(allocator, timer);
      simt::launch(stream_, geometry_.shape(), AllocKernel{}, uncounted(allocator), geometry_, size_, held_.data());
      requests_and_frees(allocator, timer);
      simt::launch(stream_, geometry_.shape(), FreeKernel{}, uncounted(allocator), geometry_, held_.data());
    }

    template <class Caller>
    void requests_and_frees(const Caller& allocator, PhaseTimer& timer) {
      if (parameters_.cycles) {
        timer.phase("alloc", geometry_.callers, [&] {
          simt::launch(stream_, geometry_.shape(), AllocCyclesKernel{}, allocator, geometry_, size_, results_.data(),
                       cycles_.data());
        });
        timer.counter("alloc_cycles", mean_cycles());
        timer.phase("free", geometry_.callers, [&] {
          simt::launch(stream_, geometry_.shape(), FreeCyclesKernel{}, allocator, geometry_, results_.data(),
                       cycles_.data());
        });
        timer.counter("free_cycles", mean_cycles());
        return;
      }
      timer.phase("alloc", geometry_.callers, [&] {
        simt::launch(stream_, geometry_.shape(), AllocKernel{}, allocator, geometry_, size_, results_.data());
      });
      timer.phase("free", geometry_.callers, [&] {
        simt::launch(stream_, geometry_.shape(), FreeKernel{}, allocator, geometry_, results_.data());
      });
    }

    // Of the last kernel, over all callers, rounded.
    std::uint64_t mean_cycles() const {
      const std::vector<std::uint32_t> host = cycles_.to_host(stream_);
      const std::uint64_t sum = std::accumulate(host.begin(), host.end(), std::uint64_t{0});
      return (sum + host.size() / 2) / host.size();
    }

    simt::Stream& stream_;
    Parameters parameters_;
    std::uint64_t seed_;
    Geometry geometry_;
    FixedSize size_;
    bool marks_;  // pages are put into use by marks; else by requests of which some are freed
    std::uint32_t requests_before_;
    Occupants occupants_;
    RecordedPointers results_;
    RecordedPointers held_;
    simt::Buffer<std::uint32_t> cycles_;
  };
};

}  // namespace allocbench
