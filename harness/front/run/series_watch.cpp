#include "harness/front/run/series_watch.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace allocbench::front {

void SeriesWatch::note_timeout(const std::string& series, std::optional<double> growth) {
  if (growth) timeouts_[series].push_back(*growth);
}

bool SeriesWatch::is_hopeless(const std::string& series, std::optional<double> growth) const {
  return !smaller_timeouts(series, growth).empty();
}

std::optional<std::string> SeriesWatch::reason_to_skip(const std::string& series, std::optional<double> growth) const {
  const std::vector<double> smaller = smaller_timeouts(series, growth);
  if (smaller.size() < 2) return std::nullopt;
  return fmt::format("series {} timed out at {} and {}", series, smaller[0], smaller[1]);
}

std::vector<double> SeriesWatch::smaller_timeouts(const std::string& series, std::optional<double> growth) const {
  std::vector<double> smaller;
  const auto found = timeouts_.find(series);
  if (!growth || found == timeouts_.end()) return smaller;
  std::copy_if(found->second.begin(), found->second.end(), std::back_inserter(smaller),
               [&](double value) { return value < *growth; });
  std::sort(smaller.begin(), smaller.end());
  return smaller;
}

}  // namespace allocbench::front
