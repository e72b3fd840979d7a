#include "harness/front/workers/wall_time.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace allocbench::front {
namespace {

// Returns the name of a part for users, instead of the protocol's word.
std::string in_words(const std::string& part) {
  static const std::map<std::string, std::string> words = {
      {"start", "plug-ins and device"},    {"allocator", "creating allocators"},
      {"open", "opening cells"},           {"contents", "verification of contents"},
      {"leaks", "verification of leaks"},  {"resets", "verification of resets"},
      {"reset", "resets between samples"}, {"pointers", "pointer checks"},
      {"other", "rest of sampling"},       {"waiting", "workers waiting for the front end"}};
  const auto found = words.find(part);
  return found == words.end() ? part : found->second;
}

}  // namespace

double WallTime::add(const protocol::Profile& profile, double start_seconds) {
  double start = 0;
  double rest = 0;
  for (const auto& [part, seconds] : profile.seconds) {
    (part == "start" ? start : rest) += seconds;
    add(in_words(part), seconds);
  }
  const double unexplained_start = std::max(0.0, start_seconds - start);
  add("process starts", unexplained_start);
  beside_ += profile.beside;
  return unexplained_start + start + rest;
}

std::string WallTime::text(double total_seconds) const {
  std::vector<std::pair<std::string, double>> parts(seconds_.begin(), seconds_.end());
  double rest = total_seconds;
  for (const auto& [part, seconds] : parts) rest -= seconds;
  parts.emplace_back("front end", std::max(rest, 0.0));
  std::stable_sort(parts.begin(), parts.end(), [](auto& one, auto& other) { return one.second > other.second; });
  std::string text = fmt::format("wall time {:.1f} s\n", total_seconds);
  for (const auto& [part, seconds] : parts) {
    text += fmt::format("  {:5.1f} %  {:8.1f} s  {}\n", 100 * seconds / total_seconds, seconds, part);
  }
  if (beside_ > 0) {
    text +=
        fmt::format("  {:7}   {:8.1f} s  of process starts ran while another worker started or ended\n", "", beside_);
  }
  return text;
}

}  // namespace allocbench::front
