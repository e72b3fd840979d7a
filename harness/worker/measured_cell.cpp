#include "harness/worker/measured_cell.hpp"

#include <chrono>
#include <cstdio>

#include "harness/worker/failure.hpp"
#include "protocol/bounds.hpp"
#include "workloads/support/callers/few_contents.hpp"
#include "workloads/support/verification/call_counter.hpp"
#include "workloads/support/verification/content_check.hpp"
#include "workloads/support/verification/leak_check.hpp"
#include "workloads/support/verification/limited_requests.hpp"
#include "workloads/support/verification/pointer_rules.hpp"
#include "workloads/support/verification/trace_pass.hpp"

namespace allocbench::worker {
namespace {

// Invariants are checked only in pools up to this size, because the host reads all words of the allocator for the
// check.
constexpr std::size_t largest_inspected_pool = std::size_t{512} << 20;

// An observed pass is assumed to take this many times as long as a timed pass. An observed pass records each call, and
// the first observed pass also fills and compares blocks.
constexpr double observed_to_timed = 3;

// Starts a deadline. Without `seconds` it starts a very late one, so that no earlier deadline remains.
class DeadlineScope {
 public:
  DeadlineScope(simt::Deadline& deadline, std::optional<double> seconds) : deadline_(deadline) {
    deadline_.start(seconds.value_or(protocol::longest_seconds));
  }
  // Ignores a device fault, because after it no more work runs.
  ~DeadlineScope() {
    try {
      deadline_.stop();
    } catch (const simt::Fault&) {
    }
  }
  DeadlineScope(const DeadlineScope&) = delete;
  DeadlineScope& operator=(const DeadlineScope&) = delete;

 private:
  simt::Deadline& deadline_;
};

constexpr const char* blocks_return_unfreed = "waived: the allocator reuses blocks that were not freed";

std::string late_verdict(double seconds) {
  char text[80];
  std::snprintf(text, sizeof text, "not finished: its calls took longer than %.3g s", seconds);
  return text;
}

// Returns the cause of null pointers, as a text to append to the reason of a cell. It is empty if the cause is unknown.
std::string cause_of_nulls(const PointerCheck& check) {
  const std::optional<std::uint64_t> spurious = check.spurious_nulls();
  if (!spurious) return "";
  if (*spurious == 0) return "; the pool was exhausted";
  return "; " + std::to_string(*spurious) + (*spurious == 1 ? " of the nulls is" : " of the nulls are") +
         " spurious, because all requests fitted into the free memory";
}

}  // namespace

MeasuredCell::MeasuredCell(Instance& instance, const RunSetting& setting, const CellRequest& request,
                           const WorkloadTraits& workload, std::unique_ptr<WorkloadRun> run)
    : instance_(instance),
      setting_(setting),
      settings_(request.settings),
      workload_(workload),
      run_(std::move(run)),
      warm_ups_left_(request.settings.warmups,
                     request.long_warm_ups_count && starts_every_pass_fresh() ? sampling_seconds : WarmUps::never),
      leaves_device_heap_alone_(instance_.handle().leaves_device_heap_alone(run_->largest_request())) {
  if (settings_.l2 == L2State::flushed) instance_.prepare_to_flush_l2();
  if (settings_.state == StartState::aged) {
    fail_if_unsupported(Ageing::unsupported(setting.allocator));
    ageing_.emplace(instance_.stream(), setting, run_->requests(), request.settings.aged_rounds);
  }
}

void MeasuredCell::begin() {
  if (ageing_ && instance_.traits().fresh == Fresh::by_process) ageing_->leave(instance_.handle().observed({}, {}));
  reset_allocator();
  if (ageing_) ageing_->age(instance_.handle().observed({}, {}));
}

MeasuredCell::~MeasuredCell() {
  if (instance_.last_user == this) instance_.last_user = nullptr;  // the next cell may get this address
}

Verification MeasuredCell::verify(const VerificationLimits& limits, const StageListener& stages) {
  Verification result;
  if (judged_) {
    result.null_returns = judged_->null_returns;
    result.blocks = judged_->blocks;
  }
  const auto in_stage = [&](const VerifiedStage& stage, const auto& check) {
    if (stages && !result.stale) stages(stage.stage);
    verify_stage(stage, limits.seconds, result, check);
  };
  in_stage({Stage::contents, Part::contents, &Verification::content}, [&](Verification& found) {
    begin();
    instance_.fail_if_late();
    check_contents(limits.contents_seconds, found);
    found.histograms = run_->histograms();
  });
  std::uint32_t lanes_per_warp = 0;
  in_stage({Stage::leaks, Part::leaks, &Verification::leak}, [&](Verification& found) {
    const RequestProfile requests = run_->requests();  // drawn again at each call
    lanes_per_warp = requests.geometry.lanes_per_warp;
    check_leaks(requests, found);
  });
  in_stage({Stage::resets, Part::resets, &Verification::reset}, [&](Verification& found) {
    found.reset = instance_.check_reset(lanes_per_warp);
    check_invariants();
    reset_allocator();
  });
  if (!limits.trace.empty()) {
    in_stage({Stage::trace, Part::contents, &Verification::trace},
             [&](Verification& found) { record_trace(limits, found); });
  }
  return result;
}

template <class Check>
void MeasuredCell::verify_stage(const VerifiedStage& stage, std::optional<double> seconds, Verification& result,
                                Check&& check) {
  if (result.stale) {
    result.*stage.verdict = "not finished: calls of an earlier check ended half-way";
    return;
  }
  const DeadlineScope scope(instance_.deadline(), seconds);
  const auto before = instance_.shares().seconds();
  try {
    const TimeShares::Scope share(instance_.shares(), stage.part);
    Verification found = result;
    check(found);
    instance_.fail_if_late();
    result = std::move(found);
  } catch (...) {
    instance_.handle().forget_filled();  // calls of the check may have ended half-way
    const std::optional<CellFailure> failure = current_failure(instance_.traits());
    if (!failure || !instance_.deadline().passed()) throw;
    instance_.shares().claim_since(before, Part::deadlines);
    // All other findings are consequences of calls that ended half-way.
    result.*stage.verdict = late_verdict(*seconds);
    result.stale = failure->fatal() || instance_.traits().fresh == Fresh::by_process;
    if (!result.stale) reset_allocator();
  }
}

void MeasuredCell::check_leaks(const RequestProfile& requests, Verification& result) {
  const std::size_t known = instance_.leak_findings().count();
  const LeakResult leak =
      LeakCheck(instance_.stream(), requests, setting_, instance_.leak_findings()).run(instance_.handle());
  result.leak_rounds = leak.rounds;
  result.leak = leak.verdict;
  result.spurious_nulls = leak.spurious_nulls;
  instance_.stream().synchronize();
  if (instance_.deadline().passed()) instance_.leak_findings().forget_after(known);
}

Sample MeasuredCell::sample(const StageListener& stages) {
  return warm_ups_left_.sample(
      [&](std::string_view name, double least_seconds) { return repetition(name, least_seconds, stages); });
}

bool MeasuredCell::overlap_is_defined() const {
  if (!instance_.traits().recycles_unfreed) return true;
  const RequestProfile profile = run_->requests();
  const std::uint64_t rounds = (run_->mallocs_at_most() + profile.geometry.callers - 1) / profile.geometry.callers;
  return rounds * profile.bytes() <= setting_.pool_bytes;
}

AllocatorHandle MeasuredCell::timed_allocator() const {
  const bool is_reset = starts_every_pass_fresh() && instance_.traits().fresh == Fresh::by_reset;
  // A reset frees nothing in the device heap.
  return is_reset && leaves_device_heap_alone_ ? instance_.handle().reset_afterwards() : instance_.handle();
}

void MeasuredCell::repeat() {
  make_ready();
  PhaseTimer timer(instance_.stream());
  run_->sample(timed_allocator(), timer);
  instance_.stream().synchronize();
  instance_.last_user = this;
}

void MeasuredCell::prepare() {
  make_ready();
  instance_.stream().synchronize();
  instance_.last_user = this;  // the heap is in the state that earlier repetitions left
}

void MeasuredCell::make_ready() {
  if (starts_fresh()) {
    const TimeShares::Scope reset(instance_.shares(), Part::reset);
    begin();
    instance_.stream().synchronize();
  }
  instance_.last_user = nullptr;  // a failure from here on leaves no usable state
  run_->prepare();
  if (settings_.l2 == L2State::flushed) instance_.flush_l2();
}

StageListener MeasuredCell::when_idle(const StageListener& listener) const {
  if (!listener) return {};
  return [&](Stage stage) {
    instance_.stream().synchronize();
    listener(stage);
  };
}

Sample MeasuredCell::repetition(std::string_view name, double least_seconds, const StageListener& listener) {
  const auto start = std::chrono::steady_clock::now();
  Stages stages(when_idle(listener));
  stages.begin(Stage::prepare);
  make_ready();
  PhaseTimer timer(instance_.stream(), &stages);
  {
    const simt::Range range(name);  // `allocbench profile` selects samples by this name
    run_->sample(timed_allocator().telling(stages), timer);
  }
  instance_.shares().move_to(Part::kernels, timer.seconds());
  if (timer.seconds() < least_seconds) {
    instance_.last_user = this;
    return {timer.seconds(), {}, {}};
  }
  stages.begin(Stage::judge);
  const TimeShares::Scope pointers(instance_.shares(), Part::pointers);
  const PointerCheck check = check_pointers();
  instance_.last_user = this;
  judged_ = {check.nulls(), check.blocks(),
             std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()};
  timer.counter("null_returns", check.nulls());
  const std::optional<std::uint64_t> spurious = check.spurious_nulls();
  if (workload_.null_expected && spurious) timer.counter("spurious_nulls", *spurious);
  return {timer.seconds(), timer.phases(), timer.counters()};
}

void MeasuredCell::check_contents(std::optional<double> seconds, Verification& result) {
  if (workload_.writes_blocks) {
    check_own_blocks(result);
  } else if (seconds && passes_take_longer_than(*seconds)) {
    check_blocks_of_few(result);
  } else {
    check_filled_blocks(result);
  }
}

bool MeasuredCell::passes_take_longer_than(double seconds) const {
  const std::uint64_t passes = (starts_every_pass_fresh() ? 0 : settings_.warmups) + settings_.counted_passes;
  return judged_ && observed_to_timed * judged_->wall_seconds * static_cast<double>(passes) > seconds;
}

// Verifies workloads that check the contents of their blocks themselves. check_recorded() checks them after every
// sample, so this function runs the workload only if there was no sample.
void MeasuredCell::check_own_blocks(Verification& result) {
  result.content = "checked";
  if (judged_) return;
  run_->prepare();
  PhaseTimer untimed(instance_.stream());
  run_->sample(instance_.handle(), untimed);
  const PointerCheck pointers = check_pointers();
  result.null_returns = pointers.nulls();
  result.blocks = pointers.blocks();
}

void MeasuredCell::record_trace(const VerificationLimits& limits, Verification& result) {
  begin();
  run_->prepare();
  TracePass pass(instance_.stream(), instance_.handle(), instance_.rules(false), setting_.pool_bytes,
                 limits.trace_calls);
  PhaseTimer untimed(instance_.stream());
  run_->sample(pass.allocator(), untimed);
  instance_.fail_if_late();
  static_cast<void>(check_pointers());
  result.trace = pass.write(limits.trace);
  reset_allocator();
}

void MeasuredCell::check_blocks_of_few(Verification& result) {
  const RequestProfile requests = run_->requests();
  const RequestProfile few = for_slow_designs(requests);
  const bool judged = !instance_.traits().recycles_unfreed || few.bytes() <= setting_.pool_bytes;
  const FewContents found = check_few_contents(instance_.stream(), few, instance_.rules(judged), instance_.handle());
  if (!found.pointers.ok()) throw CellFailure(Status::incorrect, found.pointers.problem());
  if (judged && !found.problem.empty()) throw CellFailure(Status::incorrect, found.problem);
  result.content = judged ? checked_callers(found.served, requests.geometry.callers) : blocks_return_unfreed;
}

void MeasuredCell::check_filled_blocks(Verification& result) {
  run_->prepare();
  PhaseTimer untimed(instance_.stream());
  result.counted = CallStatistics(instance_.traits().step);
  const std::uint64_t first_counted = starts_every_pass_fresh() ? 0 : settings_.warmups;
  const bool judged = overlap_is_defined();
  CallCounter counter(instance_.stream(), run_->mallocs_at_most());
  for (std::uint64_t pass = 0; pass < first_counted + settings_.counted_passes; ++pass) {
    const bool counts = pass >= first_counted;
    const CallLedger calls = counts ? counter.start() : CallLedger{};
    if (pass == 0) {
      check_contents_of(calls, judged, result, untimed);
    } else {
      if (starts_every_pass_fresh()) reset_allocator();
      run_->prepare();
      run_->sample(instance_.handle().observed(calls, ContentLedger{}), untimed);
      instance_.fail_if_late();
      static_cast<void>(check_pointers());
    }
    if (counts) counter.add_to(result.counted);
  }
}

void MeasuredCell::check_contents_of(const CallLedger& calls, bool judged, Verification& result, PhaseTimer& untimed) {
  const ContentCheck contents(instance_.stream(), run_->mallocs_at_most(), instance_.rules(judged));
  run_->sample(instance_.handle().observed(calls, contents.ledger()), untimed);
  instance_.fail_if_late();
  // Pointers are checked first, because a wrong pointer explains wrong contents, but not vice versa.
  const PointerCheck pointers = check_pointers();
  result.null_returns = pointers.nulls();
  result.blocks = pointers.blocks();
  if (!judged) {
    result.content = blocks_return_unfreed;
    return;
  }
  const std::string problem = contents.problem();
  if (!problem.empty()) throw CellFailure(Status::incorrect, problem);
  result.content = "checked";
}

// Returns the rules for pointers. If the heap is aged, the rules leave out the facts about free memory, which are
// unknown.
PointerRules MeasuredCell::rules() const {
  PointerRules rules = instance_.rules(overlap_is_defined());
  if (!ageing_) add_room(rules, setting_);
  return rules;
}

PointerCheck MeasuredCell::check_pointers() const {
  PointerCheck check(rules());
  run_->check_recorded(check);
  if (!check.ok()) throw CellFailure(Status::incorrect, check.problem());
  const std::string refusal = check.refusal(setting_.pool_bytes);
  if (workload_.null_expected && !refusal.empty()) throw CellFailure(Status::oom, refusal);
  if (check.nulls() != 0 && !workload_.null_expected) {
    throw CellFailure(Status::oom, std::to_string(check.nulls()) + " of " + std::to_string(check.blocks()) +
                                       " requests returned null; " + bytes_text(check.bytes_requested()) +
                                       " asked of a pool of " + bytes_text(setting_.pool_bytes) +
                                       cause_of_nulls(check));
  }
  return check;
}

void MeasuredCell::check_invariants() const {
  if (setting_.pool_bytes > largest_inspected_pool) return;
  const std::string broken = instance_.handle().broken_invariant(instance_.stream());
  if (!broken.empty()) throw CellFailure(Status::incorrect, "invariant broken: " + broken);
}

}  // namespace allocbench::worker
