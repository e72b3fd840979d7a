#include "harness/front/cli/study_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace allocbench::front {

std::vector<std::string> measuring_words(const RunOptions& run) {
  std::vector<std::string> words;
  const auto add = [&](const char* option, const std::string& value) { words.insert(words.end(), {option, value}); };
  if (!run.filter.empty()) add("--filter", run.filter);
  if (run.timeout) add("--timeout", fmt::format("{}", *run.timeout));
  if (run.minutes) add("--minutes", fmt::format("{}", *run.minutes));
  if (!run.known.empty()) add("--known", run.known);
  if (run.seed) add("--seed", fmt::format("{}", *run.seed));
  if (run.verify != "auto") add("--verify", run.verify);
  if (run.memory_bytes) add("--device-memory", fmt::format("{}", *run.memory_bytes));
  std::ranges::copy(run.executor.words(), std::back_inserter(words));
  if (!run.data.empty()) add("--data", run.data);
  if (!run.workers.empty()) add("--workers", run.workers);
  for (const auto& [given, option] : {std::pair{run.resume, "--resume"}, std::pair{run.only_failed, "--only-failed"},
                                      std::pair{run.force, "--force"}, std::pair{run.allow_mixed, "--allow-mixed"},
                                      std::pair{run.profile, "--profile"}, std::pair{run.one_by_one, "--one-by-one"},
                                      std::pair{run.full, "--full"}, std::pair{!run.use_known, "--no-known"}}) {
    if (given) words.emplace_back(option);
  }
  return words;
}

}  // namespace allocbench::front
