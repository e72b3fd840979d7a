#include "workloads/recovery/recovery.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "workloads/support/callers/caller_requests.hpp"
#include "workloads/support/callers/requirements.hpp"
#include "workloads/support/contract/outcome.hpp"
#include "workloads/support/random/random.hpp"

namespace allocbench {
namespace {

constexpr std::uint64_t most_kept_blocks = 1ull << 26;

// No allocator can serve more rounds, because a block takes at least the bytes requested.
std::uint64_t rounds_at_most(std::size_t pool_bytes, std::uint64_t bytes, std::uint32_t threads) {
  return pool_bytes / bytes / threads + 1;
}

// The results of the rounds that ran, in rows of callers, nulls included.
class ServedRounds {
 public:
  ServedRounds(const CallerRequests& requests, std::uint32_t rounds)
      : slots_(requests.blocks()), bytes_(requests.sizes().host().fixed_bytes()) {
    slots_.resize(std::size_t{rounds} * requests.callers());
  }
  std::vector<RecordedBlock>& slots() { return slots_; }
  std::uint64_t blocks() const {
    return static_cast<std::uint64_t>(
        std::count_if(slots_.begin(), slots_.end(), [](const RecordedBlock& each) { return each.address != 0; }));
  }
  double bytes() const { return static_cast<double>(blocks() * bytes_); }

 private:
  std::vector<RecordedBlock> slots_;
  std::uint64_t bytes_;
};

class RecoveryRun final : public WorkloadRun {
 public:
  RecoveryRun(const Recovery::Parameters& parameters, const RunSetting& setting, simt::Stream& stream)
      : stream_(stream),
        type_(setting.allocator),
        parameters_(parameters),
        pool_bytes_(setting.pool_bytes),
        seed_(setting.seed),
        first_(rows(parameters.request_bytes)),
        freed_(stream, first_.callers(), first_.rounds()),
        later_(rows(parameters.later_bytes())) {}

  void prepare() override {
    first_.poison();
    later_.poison();
  }

  void sample(const AllocatorHandle& allocator, PhaseTimer& timer) override {
    std::uint32_t rounds = 0;
    timer.phase("fill", 0, [&] { rounds = first_.alloc_until_null(allocator); });
    ServedRounds filled(first_, rounds);
    if (filled.blocks() == 0) {
      throw CellFailure(Status::oom, "the pool of " + bytes_text(pool_bytes_) + " holds no block of " +
                                         bytes_text(parameters_.request_bytes));
    }
    filled_ = filled.slots();
    const std::vector<RecordedBlock> leaving = choose();
    timer.phase("free", leaving.size(), [&] { free_rows(allocator, rounds); });
    std::uint32_t later_rounds = 0;
    timer.phase("again", 0, [&] { later_rounds = later_.alloc_until_null(allocator); });
    ServedRounds again(later_, later_rounds);
    again_ = again.slots();

    freed_bytes_ = leaving.size() * parameters_.request_bytes;
    timer.set_operations("fill", filled.blocks());
    timer.set_operations("again", again.blocks());
    timer.counter("served_bytes", filled.bytes());
    timer.counter("usable_share", filled.bytes() / static_cast<double>(pool_bytes_));
    if (freed_bytes_ > 0) timer.counter("recovered_share", again.bytes() / static_cast<double>(freed_bytes_));

    for (std::uint32_t round = 0; round < later_rounds; ++round) later_.free(allocator, round);
    fill_slots(kept_, rounds);
    free_rows(allocator, rounds);
  }

  // The nulls that ended the filling are judged with the first blocks. Later nulls belong to the later blocks.
  void check_recorded(PointerCheck& check) const override {
    count_refused(check);
    if (is_right_on_device(check)) return;
    check.check(filled_, PointerCheck::Live::together);
    check.check(again_, PointerCheck::Live::separately);
    std::vector<RecordedBlock> live = kept_;
    std::copy_if(again_.begin(), again_.end(), std::back_inserter(live),
                 [](const RecordedBlock& each) { return each.address != 0; });
    check.check_overlap_only(live);
  }
  RequestProfile requests() const override { return first_.profile(); }
  std::uint64_t mallocs_at_most() const override {
    return std::uint64_t{first_.callers()} * first_.rounds() + std::uint64_t{later_.callers()} * later_.rounds();
  }
  std::vector<KernelInfo> kernels() const override { return first_.kernels(type_); }

 private:
  CallerRequests rows(std::uint64_t bytes) const {
    return CallerRequests(stream_, parameters_.geometry(), RequestSizes::fixed(bytes),
                          static_cast<std::uint32_t>(rounds_at_most(pool_bytes_, bytes, parameters_.threads)));
  }

  // Makes the checks of check_recorded() in device memory, because the host would need seconds to sort the millions of
  // blocks that a full pool can have. Returns false if the host must check.
  bool is_right_on_device(PointerCheck& check) const {
    SlotRange first = first_.range();
    first.count = filled_.size();
    SlotRange later = later_.range();
    later.count = again_.size();
    const std::array kept_and_later{freed_.range(first_.sizes().any(), first_.callers()), later};
    const auto nulls_of = [&](SlotCheck& slots, std::span<const SlotRange> ranges, PointerCheck::Live live) {
      return slots.nulls_if_right(stream_, ranges, check.rules(), live);
    };
    const auto first_nulls = nulls_of(first_check_, {&first, 1}, PointerCheck::Live::together);
    if (!first_nulls) return false;
    const auto later_nulls = nulls_of(later_check_, {&later, 1}, PointerCheck::Live::separately);
    if (!later_nulls || !nulls_of(later_check_, kept_and_later, PointerCheck::Live::together)) return false;
    check.add_right(first.count, *first_nulls, first.count * parameters_.request_bytes);
    check.add_right(later.count, *later_nulls, later.count * parameters_.later_bytes());
    return true;
  }

  // The allocator should serve as many requests of the first later round as fit into the freed bytes.
  void count_refused(PointerCheck& check) const {
    const std::size_t first_round = std::min<std::size_t>(later_.callers(), again_.size());
    const std::uint64_t with_room = std::min<std::uint64_t>(first_round, freed_bytes_ / parameters_.later_bytes());
    const auto served = static_cast<std::uint64_t>(
        std::count_if(again_.begin(), again_.begin() + static_cast<std::ptrdiff_t>(first_round),
                      [](const RecordedBlock& each) { return each.address != 0; }));
    check.count_refused(with_room, with_room - std::min(with_room, served), freed_bytes_);
  }

  // Puts the blocks to be freed into their slots, and the other blocks into kept_.
  std::vector<RecordedBlock> choose() {
    std::vector<RecordedBlock> leaving;
    kept_.clear();
    leaving.reserve(filled_.size());
    RandomWords drawn{};
    for (std::size_t i = 0; i < filled_.size(); ++i) {
      if (i % 4 == 0 && parameters_.freed_share < 1) drawn = random_words(seed_, RandomStream::recovery, i / 4);
      if (filled_[i].address == 0) continue;
      const bool leaves = parameters_.freed_share >= 1 || unit_interval(drawn.words[i % 4]) < parameters_.freed_share;
      (leaves ? leaving : kept_).push_back(filled_[i]);
    }
    fill_slots(leaving, first_.rounds());
    return leaving;
  }

  // Stores each block at the place of its caller. The other places are null.
  void fill_slots(const std::vector<RecordedBlock>& blocks, std::uint32_t rounds) {
    std::vector<void*> slots(std::size_t{first_.callers()} * first_.rounds(), nullptr);
    for (const RecordedBlock& each : blocks) {
      if (each.request < std::size_t{rounds} * first_.callers())
        slots[each.request] = reinterpret_cast<void*>(each.address);
    }
    freed_.fill_from(slots);
  }

  void free_rows(const AllocatorHandle& allocator, std::uint32_t rounds) {
    for (std::uint32_t round = 0; round < rounds; ++round) first_.free_of(allocator, freed_.row(round));
  }

  simt::Stream& stream_;
  const AllocatorType& type_;
  Recovery::Parameters parameters_;
  std::size_t pool_bytes_;
  std::uint64_t seed_;
  CallerRequests first_;
  RecordedPointers freed_;
  CallerRequests later_;
  mutable SlotCheck first_check_;  // memory of the checks
  mutable SlotCheck later_check_;
  std::uint64_t freed_bytes_ =
      0;  // bytes freed in the last sample; the next three members also belong to the last sample
  std::vector<RecordedBlock> filled_;
  std::vector<RecordedBlock> kept_;
  std::vector<RecordedBlock> again_;
};

}  // namespace

std::string Recovery::unsupported(const Parameters& parameters, const RunSetting& setting) {
  if (setting.traits().frees == Frees::never) return setting.display_name() + " never frees: it does not recover";
  if (setting.traits().frees == Frees::in_bulk) {
    return setting.display_name() + " frees in bulk: one free would free the rounds of a thread together";
  }
  if (setting.traits().recycles_unfreed) {
    return setting.display_name() + " is never full: it reuses blocks that were not freed";
  }
  if (setting.traits().whole_warp_calls && parameters.freed_share < 1) {
    return setting.display_name() + " needs all lanes of a warp to call together, also where single blocks are freed";
  }
  if (rounds_at_most(setting.pool_bytes, parameters.request_bytes, parameters.threads) * parameters.threads >
      most_kept_blocks) {
    return "a pool of " + std::to_string(setting.pool_bytes) + " B may hold more than the " +
           std::to_string(most_kept_blocks) + " blocks that this workload keeps";
  }
  const std::string why = why_too_many_free(parameters.request_bytes, parameters.freed_share, setting);
  if (!why.empty()) return why;
  return why_unsupported(parameters.geometry(), parameters.later_bytes(), setting);
}

std::unique_ptr<WorkloadRun> Recovery::open(const Parameters& parameters, const RunSetting& setting,
                                            simt::Stream& stream) {
  return std::make_unique<RecoveryRun>(parameters, setting, stream);
}

}  // namespace allocbench
