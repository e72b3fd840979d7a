// hash_join: a radix hash join that writes its result in one pass, into pages from the allocator.
//
// Pham et al. 2025, sec. 6.1, fig. 17 and appendix B; the join is that of Rui & Tu, SSDBM 2017. The size of a join's
// result is not known before. Usually the probe runs twice, first to count and then to write; with an allocator a
// thread writes its matches to a page of its own and asks for another one when it is full (containers/page_writer.hpp).
//
// Phases: `partition` orders both tables by hash (without the allocator), `build_probe` joins, `read_back` copies the
// result from the pages to an array, `free` gives the pages back. `total` is the first two, as in the paper. With
// `output` two_pass the probe runs twice and no page is used: the yardstick. The pairs are compared with the host's
// after every sample, exactly for small tables, by digests of 128 bits for large ones.
//
// Before each sample pages are put into use until `free_share` is left (workloads/common/pre_occupation.hpp).
#pragma once

#include "containers/page_writer.hpp"
#include "workloads/common/pre_occupation.hpp"
#include "workloads/contract/outcome.hpp"
#include "workloads/join/join_steps.hpp"

namespace allocbench {

struct BuildProbeKernel {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, JoinShape shape, PartitionedTable r, PartitionedTable s,
                          std::uint64_t page_bytes, PairLists lists, PageFaults* faults) const {
    auto&& session = attach(allocator, thread);
    PageWriter<std::uint64_t> writer(page_bytes);
    std::uint64_t lost = 0;
    join::join_block(thread, shape, r, s, [&](std::uint32_t r_row, std::uint32_t s_row) {
      if (!writer.append(thread, session, join_pair(r_row, s_row))) ++lost;
    });
    writer.close();
    lists.newest[thread.rank_in_grid()] = writer.newest_page();
    lists.counts[thread.rank_in_grid()] = writer.records();
    if (lost != 0) {
      thread.atomic(faults->nulls).fetch_add(std::uint64_t{1}, simt::relaxed);
      thread.atomic(faults->lost).fetch_add(lost, simt::relaxed);
    }
    detach(session, thread);
  }
};

// Same grid as the join, so that every thread finds its session again.
struct FreePairListsKernel {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, PairLists lists) const {
    const std::uint32_t list = thread.rank_in_grid();
    auto&& session = attach(allocator, thread);
    PairChain::for_each_page(lists.newest[list], lists.counts[list], [&](std::uint64_t page, std::uint32_t) {
      session.free(thread, reinterpret_cast<void*>(page));
    });
    detach(session, thread);
  }
};

struct HashJoin {
  struct Parameters {
    std::uint32_t tuples = 1 << 14;
    std::uint32_t tuples_per_thread = 8;
    std::uint32_t threads_per_block = 128;
    std::uint64_t page_bytes = 256;
    double free_share = 0.5;
    std::string input = "fk";
    double exponent = 0.75;
    std::string output = "pages";

    static auto fields() {
      using P = Parameters;
      return std::tuple{
          Field{"tuples", &P::tuples, "tuples", "tuples of each of the two tables",
                "Pham et al. 2025, fig. 17: 16K to 64M"}
              .between(2, 1 << 28),
          Field{"tuples_per_thread", &P::tuples_per_thread, "tuples",
                "tuples of the probing table that a thread takes, on average",
                "assumed; the paper has about as many threads as tuples"}
              .between(1, 1024),
          Field{"threads_per_block", &P::threads_per_block, "threads", "threads of a block", "assumed"}.between(
              simt::warp_size, most_threads_per_block),
          Field{"page_bytes", &P::page_bytes, "B", "size of every page, 16 bytes of header included",
                "assumed: 256, as in the paper's unit tests"}
              .between(32, 1 << 20),
          Field{"free_share", &P::free_share, "fraction", "share of the pages that is free before the join",
                "Pham et al. 2025, fig. 17: 50 and 5 %"}
              .between(0, 1),
          Field{"input", &P::input, "",
                "fk: one match for each tuple; dup: two; sel: for one of 16; skew: one, Zipf-distributed",
                "assumed: the paper does not say"}
              .one_of({"fk", "dup", "sel", "skew"}),
          Field{"exponent", &P::exponent, "", "exponent of the distribution (input = skew)", "assumed"}.between(0, 4),
          Field{"output", &P::output, "",
                "pages: one pass into pages from the allocator; two_pass: count, prefix sum and write, without it",
                "Pham et al. 2025, appendix B"}
              .one_of({"pages", "two_pass"})};
    }

    bool uses_pages() const { return output == "pages"; }
  };

  static constexpr WorkloadTraits traits{
      .name = "hash_join",
      .display_name = "Hash Join",
      .paper = "Pham et al. 2025, sec. 6.1",
      .summary = "a radix hash join whose threads write matches to pages of their own",
      .phases = "partition build_probe read_back free total",
      .writes_blocks = true,
      .application = true};

  template <class A>
  static std::string unsupported(const Parameters& p, const RunSetting<A>& setting) {
    if (p.input == "sel" && p.tuples > 1u << 28) return "input sel needs 16 times the tuples as keys";
    if (!p.uses_pages()) return {};
    if (A::traits.frees == Frees::in_bulk) {
      return std::string(A::traits.display_name) + " frees all blocks of a session at once; pages here outlive threads";
    }
    const std::string occupied = PreOccupation<A>::unsupported(setting, p.page_bytes, p.free_share);
    if (!occupied.empty()) return occupied;
    const std::string recycled = why_recycling<A>(least_live_bytes(p, setting.pool_bytes), setting);
    if (!recycled.empty()) return recycled;
    // Lanes find their matches at different times.
    return why_unsupported<A>(Geometry::of_callers(p.tuples, p.threads_per_block, 1), p.page_bytes, setting);
  }

  template <class A>
  class Run {
   public:
    Run(const Parameters& parameters, const RunSetting<A>& setting, simt::Stream& stream)
        : stream_(stream),
          parameters_(parameters),
          seed_(setting.seed),
          shape_(JoinShape::of(parameters.tuples, parameters.tuples_per_thread, parameters.threads_per_block)),
          steps_(stream, {parameters.input, parameters.tuples, parameters.exponent, setting.seed}, shape_,
                 parameters.uses_pages() ? parameters.page_bytes : 0),
          occupation_(setting, parameters.page_bytes, parameters.uses_pages() ? parameters.free_share : 1, stream) {}

    void prepare() { steps_.prepare(); }

    template <class Caller>
    void sample(const Caller& allocator, PhaseTimer& timer) {
      if (!parameters_.uses_pages()) {
        timer.phase("partition", 0, [&] { steps_.partition(); });
        timer.phase("build_probe", 0, [&] { steps_.join_in_two_passes(); });
        timer.sum("total", {"partition", "build_probe"});
        return;
      }
      occupation_.enter(allocator);
      timer.phase("partition", 0, [&] { steps_.partition(); });
      timer.phase("build_probe", 0, [&] {
        simt::launch(stream_, shape_.launch(), BuildProbeKernel{}, allocator, shape_, steps_.r(), steps_.s(),
                     parameters_.page_bytes, steps_.lists(), steps_.faults());
      });
      timer.phase("read_back", 0, [&] { steps_.read_back(); });
      steps_.record_pages();
      timer.phase("free", 0, [&] {
        simt::launch(stream_, {shape_.blocks, shape_.threads_per_block}, FreePairListsKernel{}, allocator,
                     steps_.lists());
      });
      occupation_.leave(allocator);
      const std::uint64_t pages = steps_.pages();
      timer.set_operations("build_probe", pages);
      timer.set_operations("free", pages);
      timer.counter("mallocs", pages);
      timer.sum("total", {"partition", "build_probe"});
    }

    void check_recorded(PointerCheck& check) const {
      check.check(steps_.page_blocks(), PointerCheck::Live::together);
      if (!check.ok() || check.nulls() != 0) return;
      const std::string problem = steps_.problem();
      if (!problem.empty()) throw CellFailure(Status::incorrect, "wrong join: " + problem);
    }

    RequestProfile requests() const {
      const std::uint64_t pages = std::max<std::uint64_t>(steps_.expected_pairs() / parameters_.tuples_per_thread, 1);
      return {Geometry::of_callers(static_cast<std::uint32_t>(std::min<std::uint64_t>(pages, 1 << 20)),
                                   parameters_.threads_per_block, simt::warp_size),
              RequestSizes::fixed(parameters_.page_bytes)};
    }
    std::uint64_t mallocs_at_most() const {
      return shape_.threads() + steps_.expected_pairs() / PairChain::capacity(parameters_.page_bytes);
    }

    std::vector<KernelInfo> kernels() const {
      return {{"build_probe", simt::kernel_attributes<BuildProbeKernel, A, JoinShape, PartitionedTable,
                                                      PartitionedTable, std::uint64_t, PairLists, PageFaults*>()},
              {"free", simt::kernel_attributes<FreePairListsKernel, A, PairLists>()}};
    }

   private:
    simt::Stream& stream_;
    Parameters parameters_;
    std::uint64_t seed_;
    JoinShape shape_;
    JoinSteps steps_;
    PreOccupation<A> occupation_;
  };

 private:
  // Pages in use before, and those of the result if all were full.
  static std::uint64_t least_live_bytes(const Parameters& p, std::uint64_t pool_bytes) {
    const std::uint64_t pages = p.tuples / p.tuples_per_thread;
    return static_cast<std::uint64_t>(static_cast<double>(pool_bytes) * (1 - p.free_share)) +
           (p.input == "sel" ? pages / 16 : pages) * p.page_bytes;
  }
};

}  // namespace allocbench
