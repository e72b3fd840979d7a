#include "simt/cpu/search/shrink.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace simt {
namespace {

// If there are more decisions than this, pairs are not tried, because there are too many pairs.
constexpr std::size_t few_decisions = 32;

class Shrinking {
 public:
  Shrinking(const Schedule& schedule, const std::function<bool(const Schedule&)>& still_fails, std::uint32_t max_runs)
      : schedule_(schedule), still_fails_(still_fails), max_runs_(max_runs) {}

  Shrunk run() {
    bool minimal = remove(0, size());
    // Tries chunks of half of the decisions, then of a quarter, and so on. A chunk that does not matter is removed as a
    // whole.
    for (std::size_t chunk = size() / 2; chunk > 1; chunk = std::min(chunk, size()) / 2) remove_chunks(chunk);
    while (!minimal && !exhausted()) {
      // Repeats until a whole pass removes nothing, because the removal of one decision may make another superfluous.
      minimal = !remove_chunks(1) && !exhausted();
      if (minimal && size() <= few_decisions) minimal = !remove_pair() && !join_two() && !exhausted();
    }
    return {std::move(schedule_), runs_, minimal};
  }

 private:
  std::size_t size() const { return schedule_.decisions.size(); }
  bool exhausted() const { return runs_ == max_runs_; }

  // Removes chunks from the end, because late decisions depend on early ones. Returns true if something was removed.
  bool remove_chunks(std::size_t chunk) {
    bool any = false;
    for (std::size_t end = size(); end != 0;) {
      const std::size_t begin = end - std::min(chunk, end);
      any = remove(begin, end) || any;
      end = begin;
    }
    return any;
  }

  bool remove(std::size_t begin, std::size_t end) {
    Schedule candidate = schedule_;
    const auto first = candidate.decisions.begin();
    candidate.decisions.erase(first + static_cast<std::ptrdiff_t>(begin), first + static_cast<std::ptrdiff_t>(end));
    return accept(std::move(candidate));
  }

  // Removes two decisions that may cancel each other.
  bool remove_pair() {
    for (std::size_t second = size(); second-- > 1;) {
      for (std::size_t first = second; first-- > 0;) {
        Schedule candidate = schedule_;
        erase(candidate, second);
        erase(candidate, first);
        if (accept(std::move(candidate))) return true;
      }
    }
    return false;
  }

  // Joins two switches into one. First tries the first switch with the target of the second. Then tries the second
  // switch alone with other targets. This helps if the first switch was needed only to make the second possible, or to
  // advance other lanes.
  bool join_two() {
    for (std::size_t i = 0; i + 1 < size(); ++i) {
      const Decision first = schedule_.decisions[i];
      const Decision second = schedule_.decisions[i + 1];
      if (first.kind != Decision::Kind::go_on_with || second.kind != Decision::Kind::go_on_with) continue;
      if (first.launch != second.launch) continue;
      if (second.value != first.lane && retarget_without(i, second.value, i + 1)) return true;
      for (const std::uint64_t target : {second.lane + 1, second.lane - 1, first.lane, first.value}) {
        if (second.lane != no_lane && target != second.lane && retarget_without(i + 1, target, i)) return true;
      }
    }
    return false;
  }

  bool retarget_without(std::size_t changed, std::uint64_t target, std::size_t removed) {
    Schedule candidate = schedule_;
    candidate.decisions[changed].value = target;
    erase(candidate, removed);
    return accept(std::move(candidate));
  }

  static void erase(Schedule& schedule, std::size_t index) {
    schedule.decisions.erase(schedule.decisions.begin() + static_cast<std::ptrdiff_t>(index));
  }

  bool accept(Schedule&& candidate) {
    if (exhausted()) return false;
    ++runs_;
    if (!still_fails_(candidate)) return false;
    schedule_ = std::move(candidate);
    return true;
  }

  Schedule schedule_;
  const std::function<bool(const Schedule&)>& still_fails_;
  const std::uint32_t max_runs_;
  std::uint32_t runs_ = 0;
};

}  // namespace

Shrunk shrink(const Schedule& schedule, const std::function<bool(const Schedule&)>& still_fails,
              std::uint32_t max_runs) {
  return Shrinking(schedule, still_fails, max_runs).run();
}

}  // namespace simt
