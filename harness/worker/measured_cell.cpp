#include "harness/worker/measured_cell.hpp"

#include "harness/protocol/event.hpp"
#include "harness/worker/failure.hpp"
#include "workloads/verification/call_counter.hpp"
#include "workloads/verification/content_check.hpp"
#include "workloads/verification/leak_check.hpp"
#include "workloads/verification/pointer_rules.hpp"

namespace allocbench::worker {
namespace {

// The host reads all words of the allocator: beyond this a cell would wait for it longer than for its kernels.
constexpr std::size_t largest_inspected_pool = std::size_t{512} << 20;

class DeadlineScope {
 public:
  DeadlineScope(simt::Deadline& deadline, std::optional<double> seconds) : deadline_(deadline) {
    if (seconds) deadline_.start(*seconds);
  }
  // After a device fault nothing can be taken back, and nothing runs any more.
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

// Behind the reason of a cell; empty where it is not known.
std::string cause_of_nulls(const PointerCheck& check) {
  const std::optional<std::uint64_t> spurious = check.spurious_nulls();
  if (!spurious) return "";
  if (*spurious == 0) return "; the pool was exhausted";
  return "; " + std::to_string(*spurious) + (*spurious == 1 ? " of the nulls is" : " of the nulls are") +
         " spurious: all requests fit what was free";
}

}  // namespace

MeasuredCell::MeasuredCell(Instance& instance, const RunSetting& setting, const CellRequest& request,
                           const WorkloadTraits& workload, std::unique_ptr<WorkloadRun> run)
    : instance_(instance),
      setting_(setting),
      state_(request.state),
      flushes_l2_(request.l2 == L2State::flushed),
      warmups_(request.warmups),
      counted_passes_(request.counted_passes),
      workload_(workload),
      run_(std::move(run)),
      warm_ups_left_(request.warmups,
                     request.long_warm_ups_count && starts_every_pass_fresh() ? sampling_seconds : WarmUps::never),
      leaves_device_heap_alone_(instance_.handle().leaves_device_heap_alone(run_->largest_request())) {
  if (flushes_l2_) instance_.prepare_to_flush_l2();
  if (state_ == StartState::aged) {
    fail_if_unsupported(Ageing::unsupported(setting.allocator));
    ageing_.emplace(instance_.stream(), setting, run_->requests(), request.aged_rounds);
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

Verification MeasuredCell::verify(std::optional<double> seconds) {
  const DeadlineScope scope(instance_.deadline(), seconds);
  const auto before = instance_.shares().seconds();
  try {
    return verify_all();
  } catch (...) {
    instance_.handle().forget_filled();  // its calls may have ended half-way
    const std::optional<CellFailure> failure = current_failure(instance_.traits());
    if (!failure || !instance_.deadline().passed()) throw;
    instance_.shares().claim_since(before, Part::deadlines);
    // Whatever else was found is the work of calls that ended half-way.
    const bool stale = failure->fatal() || instance_.traits().fresh == Fresh::by_process;
    throw CellFailure(Status::timeout, protocol::no_answer_reason, stale);
  }
}

Verification MeasuredCell::verify_all() {
  Verification result;
  {
    const TimeShares::Scope contents(instance_.shares(), Part::contents);
    begin();
    fail_if_late();
    check_contents(result);
    result.histograms = run_->histograms();
  }
  std::uint32_t lanes_per_warp = 0;
  {
    const TimeShares::Scope leaks(instance_.shares(), Part::leaks);
    const RequestProfile requests = run_->requests();  // drawn anew at each call
    const LeakResult leak =
        LeakCheck(instance_.stream(), requests, setting_, instance_.leak_findings()).run(instance_.handle());
    lanes_per_warp = requests.geometry.lanes_per_warp;
    result.leak_rounds = leak.rounds;
    result.leak = leak.verdict;
    result.spurious_nulls = leak.spurious_nulls;
    fail_if_late();
  }
  const TimeShares::Scope resets(instance_.shares(), Part::resets);
  result.reset = instance_.check_reset(lanes_per_warp);
  fail_if_late();
  check_invariants();
  reset_allocator();
  return result;
}

void MeasuredCell::fail_if_late() {
  instance_.stream().synchronize();
  if (instance_.deadline().passed()) throw CellFailure(Status::timeout, protocol::no_answer_reason);
}

Sample MeasuredCell::sample() {
  return warm_ups_left_.sample(
      [&](std::string_view name, double least_seconds) { return repetition(name, least_seconds); });
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
  instance_.last_user = this;  // the heap is as the repetitions before left it
}

void MeasuredCell::make_ready() {
  if (starts_fresh()) {
    const TimeShares::Scope reset(instance_.shares(), Part::reset);
    begin();
    instance_.stream().synchronize();
  }
  instance_.last_user = nullptr;  // whatever fails from here on leaves nothing to build on
  run_->prepare();
  if (flushes_l2_) instance_.flush_l2();
}

Sample MeasuredCell::repetition(std::string_view name, double least_seconds) {
  make_ready();
  PhaseTimer timer(instance_.stream());
  {
    const simt::Range range(name);  // `allocbench profile` wants phases of samples only
    run_->sample(timed_allocator(), timer);
  }
  instance_.shares().move_to(Part::kernels, timer.seconds());
  if (timer.seconds() < least_seconds) {
    instance_.last_user = this;
    return {timer.seconds(), {}, {}};
  }
  const TimeShares::Scope pointers(instance_.shares(), Part::pointers);
  const PointerCheck check = check_pointers();
  instance_.last_user = this;
  return sample_of(timer, check);
}

Sample MeasuredCell::sample_of(PhaseTimer& timer, const PointerCheck& check) const {
  timer.counter("null_returns", check.nulls());
  const std::optional<std::uint64_t> spurious = check.spurious_nulls();
  if (workload_.null_expected && spurious) timer.counter("spurious_nulls", *spurious);
  return {timer.seconds(), timer.phases(), timer.counters()};
}

void MeasuredCell::check_contents(Verification& result) {
  run_->prepare();
  PhaseTimer untimed(instance_.stream());
  if (workload_.writes_blocks) {
    run_->sample(instance_.handle(), untimed);
    const PointerCheck pointers = check_pointers();
    result.null_returns = pointers.nulls();
    result.blocks = pointers.blocks();
    result.content = "checked";
    if (!flushes_l2_) warm_ups_left_.offer(sample_of(untimed, pointers));
  } else {
    check_filled_blocks(result, untimed);
  }
}

void MeasuredCell::check_filled_blocks(Verification& result, PhaseTimer& untimed) {
  result.counted = CallStatistics(instance_.traits().step);
  const std::uint32_t first_counted = starts_every_pass_fresh() ? 0 : warmups_;
  const bool judged = overlap_is_defined();
  CallCounter counter(instance_.stream(), run_->mallocs_at_most());
  for (std::uint32_t pass = 0; pass < first_counted + counted_passes_; ++pass) {
    const bool counts = pass >= first_counted;
    const CallLedger calls = counts ? counter.start() : CallLedger{};
    if (pass == 0) {
      check_contents_of(calls, judged, result, untimed);
    } else {
      if (starts_every_pass_fresh()) reset_allocator();
      run_->prepare();
      run_->sample(instance_.handle().observed(calls, ContentLedger{}), untimed);
      fail_if_late();
      static_cast<void>(check_pointers());
    }
    if (counts) counter.add_to(result.counted);
  }
}

void MeasuredCell::check_contents_of(const CallLedger& calls, bool judged, Verification& result, PhaseTimer& untimed) {
  const ContentCheck contents(instance_.stream(), run_->mallocs_at_most(), instance_.rules(judged));
  run_->sample(instance_.handle().observed(calls, contents.ledger()), untimed);
  fail_if_late();
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

// Nobody knows what an aged heap has free.
PointerRules MeasuredCell::rules() const {
  PointerRules rules = instance_.rules(overlap_is_defined());
  if (!ageing_) add_room(rules, setting_);
  return rules;
}

PointerCheck MeasuredCell::check_pointers() const {
  PointerCheck check(rules());
  run_->check_recorded(check);
  if (!check.ok()) throw CellFailure(Status::incorrect, check.problem());
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
