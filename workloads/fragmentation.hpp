// fragmentation: blocks of one size until the first malloc fails; what became of the pool?
//
// Adinetz & Pleiter 2014, "Fragmentation". Nothing is asked of the allocator but addresses. In a pool that is full the
// median distance between neighbouring blocks is what one block really takes, header and rounding included:
//   internal_waste = 1 - requested size / median distance         (of a block)
//   external_waste = 1 - blocks served * median distance / pool    (of the pool: no block took it)
// Rounds of `threads` requests run until one of them returns null. The time of `alloc` includes the host's look at each
// round; this workload is about memory.
#pragma once

#include <algorithm>
#include <numeric>

#include "workloads/common/caller_parameters.hpp"
#include "workloads/common/kernels.hpp"
#include "workloads/common/recorded_pointers.hpp"
#include "workloads/contract/outcome.hpp"
#include "workloads/contract/workload.hpp"

namespace allocbench {

struct Fragmentation {
  struct Parameters : CallerParameters {
    std::uint64_t request_bytes = 16;

    Parameters() { threads = 8192; }

    static auto fields() {
      using P = Parameters;
      return std::tuple_cat(caller_fields<P>("threads of a round, one request each", "assumed"),
                            std::tuple{Field{"request_bytes", &P::request_bytes, "B", "size of every request",
                                             "Adinetz & Pleiter 2014: multiples of 8 B"}
                                           .between(1, 1ull << 40)});
    }

    // No allocator serves more: a block takes at least its own bytes.
    std::uint64_t rounds_at_most(std::size_t pool_bytes) const { return pool_bytes / request_bytes / threads + 1; }
  };

  static constexpr WorkloadTraits traits{.name = "fragmentation",
                                         .display_name = "Fragmentation",
                                         .paper = "Adinetz & Pleiter 2014, fragmentation",
                                         .summary = "blocks of one size until the pool is full: what was it used for?",
                                         .phases = "alloc free",
                                         .null_expected = true};

  static constexpr std::uint64_t most_pointers = 1ull << 27;

  template <class A>
  static std::string unsupported(const Parameters& p, const RunSetting<A>& setting) {
    if (A::traits.frees == Frees::in_bulk) {
      return std::string(A::traits.display_name) + " frees in bulk: the rounds of a thread would go together";
    }
    if (A::traits.recycles_unfreed) {
      return std::string(A::traits.display_name) + " is never full: it hands out blocks again that nobody freed";
    }
    if (p.rounds_at_most(setting.pool_bytes) * p.threads > most_pointers) {
      return "a pool of " + std::to_string(setting.pool_bytes) + " B may hold more than the " +
             std::to_string(most_pointers) + " blocks that this workload keeps";
    }
    return why_unsupported<A>(p.geometry(), p.request_bytes, setting);
  }

  template <class A>
  class Run {
   public:
    Run(const Parameters& parameters, const RunSetting<A>& setting, simt::Stream& stream)
        : stream_(stream),
          geometry_(parameters.geometry()),
          size_{parameters.request_bytes},
          pool_bytes_(setting.pool_bytes),
          results_(stream, geometry_.callers, static_cast<std::uint32_t>(parameters.rounds_at_most(pool_bytes_))) {}

    void prepare() { results_.poison(); }

    template <class Caller>
    void sample(const Caller& allocator, PhaseTimer& timer) {
      rounds_ = 0;
      timer.phase("alloc", 0, [&] {
        do {
          simt::launch(stream_, geometry_.shape(), AllocKernel{}, allocator, geometry_, size_, row(rounds_));
        } while (++rounds_ < results_.rounds() && !last_round_has_null());
      });
      timer.phase("free", 0, [&] {
        for (std::uint32_t round = 0; round < rounds_; ++round) {
          simt::launch(stream_, geometry_.shape(), FreeKernel{}, allocator, geometry_, row(round));
        }
      });
      count(timer);
    }

    void check_recorded(PointerCheck& check) const { check.check(recorded(), PointerCheck::Live::together); }
    RequestProfile requests() const { return {geometry_, RequestSizes::fixed(size_.bytes)}; }
    std::uint64_t mallocs_at_most() const { return std::uint64_t{geometry_.callers} * results_.rounds(); }

    std::vector<KernelInfo> kernels() const {
      return {{"alloc", simt::kernel_attributes<AllocKernel, A, Geometry, FixedSize, void**>()},
              {"free", simt::kernel_attributes<FreeKernel, A, Geometry, void**>()}};
    }

   private:
    void** row(std::uint32_t round) const { return results_.data() + std::size_t{round} * geometry_.callers; }

    bool last_round_has_null() {
      std::vector<void*> round(geometry_.callers);
      simt::copy_to_host(stream_, round.data(), row(rounds_ - 1), round.size() * sizeof(void*));
      return std::find(round.begin(), round.end(), nullptr) != round.end();
    }

    // Of the rounds that ran; the slots of the others keep their poison.
    std::vector<RecordedBlock> recorded() const {
      std::vector<RecordedBlock> blocks = results_.blocks([&](std::size_t) { return size_.bytes; });
      blocks.resize(std::size_t{rounds_} * geometry_.callers);
      return blocks;
    }

    void count(PhaseTimer& timer) {
      std::vector<std::uint64_t> places;
      for (const RecordedBlock& block : recorded()) {
        if (block.address != 0) places.push_back(block.address);
      }
      if (places.size() < 2) {
        throw CellFailure(Status::oom, "the pool of " + bytes_text(pool_bytes_) + " holds " +
                                           std::to_string(places.size()) + " blocks of " + bytes_text(size_.bytes));
      }
      timer.set_operations("alloc", places.size());
      timer.set_operations("free", places.size());
      const auto bytes = static_cast<double>(size_.bytes);
      const auto served = static_cast<double>(places.size());
      const auto pool = static_cast<double>(pool_bytes_);
      const double taken = std::max(bytes, static_cast<double>(median_distance(places)));
      timer.counter("served_bytes", served * bytes);
      timer.counter("block_bytes", taken);
      timer.counter("internal_waste", 1 - bytes / taken);
      timer.counter("external_waste", std::max(0.0, 1 - served * taken / pool));
    }

    static std::uint64_t median_distance(std::vector<std::uint64_t>& places) {
      std::sort(places.begin(), places.end());
      std::adjacent_difference(places.begin(), places.end(), places.begin());
      const auto middle = places.begin() + 1 + static_cast<std::ptrdiff_t>((places.size() - 1) / 2);
      std::nth_element(places.begin() + 1, middle, places.end());
      return *middle;
    }

    simt::Stream& stream_;
    Geometry geometry_;
    FixedSize size_;
    std::size_t pool_bytes_;
    RecordedPointers results_;
    std::uint32_t rounds_ = 0;  // of the last sample
  };
};

}  // namespace allocbench
