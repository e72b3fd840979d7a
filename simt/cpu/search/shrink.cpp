#include "simt/cpu/search/shrink.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace simt {
namespace {

class Shrinking {
 public:
  Shrinking(const Schedule& schedule, const std::function<bool(const Schedule&)>& still_fails, std::uint32_t max_runs)
      : schedule_(schedule), still_fails_(still_fails), max_runs_(max_runs) {}

  Shrunk run() {
    bool minimal = remove(0, size());
    // Chunks of half of the decisions, then of a quarter …: a chunk that matters not goes as a whole.
    for (std::size_t chunk = size() / 2; chunk > 1; chunk = std::min(chunk, size()) / 2) remove_chunks(chunk);
    // What was needed before another decision went may have become superfluous: until a whole pass removes nothing.
    while (!minimal && !exhausted()) minimal = !remove_chunks(1) && !exhausted();
    return {std::move(schedule_), runs_, minimal};
  }

 private:
  std::size_t size() const { return schedule_.decisions.size(); }
  bool exhausted() const { return runs_ == max_runs_; }

  // From the end: late decisions hang on early ones, not the reverse. True when something went.
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
    if (exhausted()) return false;
    Schedule candidate{schedule_.seed, {}};
    const auto first = schedule_.decisions.begin();
    candidate.decisions.assign(first, first + static_cast<std::ptrdiff_t>(begin));
    candidate.decisions.insert(candidate.decisions.end(), first + static_cast<std::ptrdiff_t>(end),
                               schedule_.decisions.end());
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
