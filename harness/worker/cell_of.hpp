// CellOf<A>: a workload bound to an allocator, with everything the protocol asks of a cell: order of resets, warm-ups
// and samples, the verification passes, and the words for what went wrong. The workload is behind RunOf<A>: a plug-in
// unit compiles this once per allocator, and only RunWith<A, W> for every pair.
#pragma once

#include <chrono>

#include "harness/worker/registry.hpp"
#include "workloads/common/observed.hpp"
#include "workloads/contract/workload.hpp"
#include "workloads/verification/call_counter.hpp"
#include "workloads/verification/content_check.hpp"
#include "workloads/verification/leak_check.hpp"

namespace allocbench::worker {

// An allocator instance as its cells see it.
template <class A>
struct AllocatorState {
  AllocatorState(simt::Stream& stream_, std::size_t pool_bytes, const typename A::Parameters& parameters)
      : stream(stream_),
        arena(stream_, pool_bytes),
        setting{pool_bytes, parameters, 0},
        allocator(create_timed(parameters)) {}

  // Back to fresh where the design can; a device heap stays as it is until the process ends.
  void reset() {
    if constexpr (A::traits.fresh == Fresh::by_reset) allocator.reset(stream);
    last_user = nullptr;
  }

  PointerRules rules(bool check_overlap) const {
    PointerRules result;
    result.alignment = A::traits.alignment;
    result.check_overlap = check_overlap;
    if (A::traits.pool == PoolLocation::arena_and_device_heap) {
      result.in_device_heap = [this](const void* block) {
        return in_pool(block) || stream.device().in_device_heap(block);
      };
    } else if (A::traits.pool == PoolLocation::arena && arena.has_pool()) {
      const Pool pool = const_cast<Arena&>(arena).pool();
      result.pool_begin = reinterpret_cast<std::uint64_t>(pool.base);
      result.pool_end = result.pool_begin + pool.bytes;
    } else {
      result.in_device_heap = [this](const void* block) { return stream.device().in_device_heap(block); };
    }
    return result;
  }

  simt::Stream& stream;
  Arena arena;
  RunSetting<A> setting;
  double init_seconds = 0;
  A allocator;
  const void* last_user = nullptr;  // the cell that ran last; null after a reset

 private:
  bool in_pool(const void* block) const {
    if (!arena.has_pool()) return false;
    const Pool pool = const_cast<Arena&>(arena).pool();
    return block >= pool.base && block < pool.base + pool.bytes;
  }

  A create_timed(const typename A::Parameters& parameters) {
    const auto start = std::chrono::steady_clock::now();
    A created = A::create(arena, parameters);
    stream.synchronize();
    init_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return created;
  }
};

// W::Run<A> as the cell sees it (workloads/contract/workload.hpp).
template <class A>
class RunOf {
 public:
  virtual ~RunOf() = default;
  virtual std::vector<KernelInfo> kernels() const = 0;
  virtual RequestProfile requests() const = 0;
  virtual std::uint64_t mallocs_at_most() const = 0;
  virtual void prepare() = 0;
  virtual void sample(const A& allocator, PhaseTimer& timer) = 0;
  // Not for workloads that write their blocks themselves.
  virtual void sample_observed(const Observed<A>& allocator, PhaseTimer& timer) = 0;
  virtual void check_recorded(PointerCheck& check) const = 0;
};

template <class A, class W>
class RunWith final : public RunOf<A> {
 public:
  RunWith(const typename W::Parameters& parameters, const RunSetting<A>& setting, simt::Stream& stream)
      : run_(parameters, setting, stream) {}

  std::vector<KernelInfo> kernels() const override { return run_.kernels(); }
  RequestProfile requests() const override { return run_.requests(); }
  std::uint64_t mallocs_at_most() const override { return run_.mallocs_at_most(); }
  void prepare() override { run_.prepare(); }
  void sample(const A& allocator, PhaseTimer& timer) override { run_.sample(allocator, timer); }
  void sample_observed(const Observed<A>& allocator, PhaseTimer& timer) override {
    if constexpr (W::traits.writes_blocks) {
      throw std::logic_error("the contents of this workload's blocks are its own");
    } else {
      run_.sample(allocator, timer);
    }
  }
  void check_recorded(PointerCheck& check) const override { run_.check_recorded(check); }

 private:
  typename W::template Run<A> run_;
};

template <class A>
class CellOf final : public Cell {
 public:
  CellOf(AllocatorState<A>& state, const RunSetting<A>& setting, const CellRequest& request,
         const WorkloadTraits& workload, std::unique_ptr<RunOf<A>> run)
      : state_(state),
        setting_(setting),
        fresh_wanted_(request.state == StartState::fresh),
        warmups_(request.warmups),
        counted_passes_(request.counted_passes),
        workload_(workload),
        run_(std::move(run)) {}

  ~CellOf() override {
    if (state_.last_user == this) state_.last_user = nullptr;  // the next cell may get this address
  }
  CellOf(const CellOf&) = delete;
  CellOf& operator=(const CellOf&) = delete;

  std::vector<KernelInfo> kernels() const override { return run_->kernels(); }

  Verification verify() override {
    Verification result;
    state_.reset();
    check_contents(result);
    const LeakResult leak = LeakCheck<A>(state_.stream, run_->requests(), setting_).run(state_.allocator);
    result.leak_rounds = leak.rounds;
    result.leak = leak.verdict;
    check_invariants();
    state_.reset();
    return result;
  }

  Sample sample() override {
    while (warmups_done_ < warmups_) {
      static_cast<void>(repetition());
      ++warmups_done_;
    }
    return repetition();
  }

 private:
  // An allocator that never frees has no state worth reusing: it would only run out.
  bool starts_fresh() const { return starts_every_pass_fresh() || state_.last_user != this; }

  // Blocks may be judged against each other while all requests since the reset fit the pool once.
  bool overlap_is_defined() const {
    if constexpr (!A::traits.recycles_unfreed) return true;
    const RequestProfile profile = run_->requests();
    const std::uint64_t rounds = (run_->mallocs_at_most() + profile.geometry.callers - 1) / profile.geometry.callers;
    return rounds * profile.bytes() <= setting_.pool_bytes;
  }

  Sample repetition() {
    if (starts_fresh()) state_.reset();
    state_.last_user = nullptr;  // whatever fails below leaves nothing to build on
    run_->prepare();
    PhaseTimer timer(state_.stream);
    run_->sample(state_.allocator, timer);
    const PointerCheck check = check_pointers();
    state_.last_user = this;
    timer.counter("null_returns", check.nulls());
    return {timer.phases(), timer.counters()};
  }

  void check_contents(Verification& result) {
    run_->prepare();
    PhaseTimer untimed(state_.stream);
    if (workload_.writes_blocks) {
      run_->sample(state_.allocator, untimed);
      const PointerCheck pointers = check_pointers();
      result.null_returns = pointers.nulls();
      result.blocks = pointers.blocks();
      result.content = "checked";
    } else {
      check_filled_blocks(result, untimed);
    }
  }

  // The first pass checks the contents of the blocks; it and those that may follow it count steps, from the state that
  // samples start from.
  void check_filled_blocks(Verification& result, PhaseTimer& untimed) {
    result.counted = CallStatistics(A::traits.step);
    const std::uint32_t first_counted = starts_every_pass_fresh() ? 0 : warmups_;
    const bool judged = overlap_is_defined();
    CallCounter counter(state_.stream, run_->mallocs_at_most());
    for (std::uint32_t pass = 0; pass < first_counted + counted_passes_; ++pass) {
      const bool counts = pass >= first_counted;
      const CallLedger calls = counts ? counter.start() : CallLedger{};
      if (pass == 0) {
        check_contents_of(calls, judged, result, untimed);
      } else {
        if (starts_every_pass_fresh()) state_.reset();
        run_->prepare();
        run_->sample_observed({Counted<A>(state_.allocator, calls), ContentLedger{}}, untimed);
        static_cast<void>(check_pointers());
      }
      if (counts) counter.add_to(result.counted);
    }
  }

  bool starts_every_pass_fresh() const { return fresh_wanted_ || A::traits.frees == Frees::never; }

  void check_contents_of(const CallLedger& calls, bool judged, Verification& result, PhaseTimer& untimed) {
    const ContentCheck contents(state_.stream, run_->mallocs_at_most(), state_.rules(judged));
    run_->sample_observed(contents.wrap(Counted<A>(state_.allocator, calls)), untimed);
    // Pointers first: a wrong pointer explains wrong contents, not the other way round.
    const PointerCheck pointers = check_pointers();
    result.null_returns = pointers.nulls();
    result.blocks = pointers.blocks();
    if (!judged) {
      result.content = "waived: blocks are handed out again before they are freed";
      return;
    }
    const std::string problem = contents.problem();
    if (!problem.empty()) throw CellFailure(Status::incorrect, problem);
    result.content = "checked";
  }

  PointerCheck check_pointers() const {
    PointerCheck check(state_.rules(overlap_is_defined()));
    run_->check_recorded(check);
    if (!check.ok()) throw CellFailure(Status::incorrect, check.problem());
    if (check.nulls() != 0 && !workload_.null_expected) {
      throw CellFailure(Status::oom, std::to_string(check.nulls()) + " of " + std::to_string(check.blocks()) +
                                         " requests returned null; " + bytes_text(check.bytes_requested()) +
                                         " asked of a pool of " + bytes_text(setting_.pool_bytes));
    }
    return check;
  }

  void check_invariants() const {
    if constexpr (requires { state_.allocator.broken_invariant(state_.stream); }) {
      const std::string broken = state_.allocator.broken_invariant(state_.stream);
      if (!broken.empty()) throw CellFailure(Status::incorrect, "invariant broken: " + broken);
    }
  }

  AllocatorState<A>& state_;
  RunSetting<A> setting_;
  bool fresh_wanted_;
  std::uint32_t warmups_;
  std::uint32_t counted_passes_;
  WorkloadTraits workload_;
  std::unique_ptr<RunOf<A>> run_;
  std::uint32_t warmups_done_ = 0;
};

}  // namespace allocbench::worker
