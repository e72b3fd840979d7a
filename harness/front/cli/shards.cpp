#include "harness/front/cli/shards.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>

#include "harness/front/cli/all_devices.hpp"
#include "harness/front/common/errors.hpp"
#include "harness/front/common/json_text.hpp"
#include "harness/front/common/output.hpp"
#include "harness/front/compare/side.hpp"

namespace allocbench::front {
namespace {

namespace fs = std::filesystem;

// These rough estimates are used if the time of a round is unknown. Only the balance of the shards depends on them.
constexpr double usual_round_seconds = 0.05;
constexpr double usual_timeout_seconds = 5;
constexpr double usual_failure_seconds = 0.5;

double seconds_of(const CellResult& result) {
  std::size_t rounds = 1;
  for (const PhaseResult& phase : result.phases) {
    rounds = std::max(rounds, phase.round_count);
  }
  if (result.cell.first_round_seconds > 0) return result.cell.first_round_seconds * static_cast<double>(rounds);
  if (result.status() == Status::timeout) return usual_timeout_seconds;
  return result.status() == Status::ok ? usual_round_seconds * static_cast<double>(rounds) : usual_failure_seconds;
}

// Returns the time of a config on the slowest device.
std::optional<double> kept_seconds(const std::vector<fs::path>& cards, const std::string& config) {
  std::optional<double> longest;
  for (const fs::path& card : cards) {
    const fs::path folder = card / config;
    if (!fs::is_directory(folder)) continue;
    try {
      double sum = 0;
      for (const Results& run : read_runs(folder.string())) {
        for (const CellResult& result : run.cells) sum += seconds_of(result);
      }
      longest = std::max(longest.value_or(0), sum);
    } catch (const UsageError& error) {
      tell("allocbench: warning: {} A checkout that can read it may make other shards.\n", error.what());
    }
  }
  return longest;
}

std::vector<fs::path> cards_in(const std::string& references) {
  std::vector<fs::path> cards;
  if (!fs::is_directory(references)) return cards;
  for (const auto& entry : fs::directory_iterator(references)) {
    if (entry.is_directory()) cards.push_back(entry.path());
  }
  std::sort(cards.begin(), cards.end());
  return cards;
}

}  // namespace

Partition partition_of(const std::vector<std::string>& configs, std::uint64_t count, const std::string& references) {
  const std::vector<fs::path> cards = cards_in(references);
  std::map<std::string, std::optional<double>> seconds;  // sorted, so that the order does not depend on the file system
  double sum = 0;
  double known = 0;
  for (const std::string& config : configs) {
    const auto& kept = seconds[config] = kept_seconds(cards, config);
    sum += kept.value_or(0);
    known += kept ? 1 : 0;
  }
  std::vector<ConfigShare> shares;
  for (const auto& [config, kept] : seconds) {
    const double expected = kept.value_or(known > 0 ? sum / known : 1);
    shares.push_back({config, static_cast<std::uint64_t>(std::llround(1000 * expected)) + 1});
  }
  Partition partition;
  partition.shards = share_out(std::move(shares), std::vector<std::string>(count));
  std::string text;
  for (const std::vector<std::string>& shard : partition.shards) text += fmt::format("{}\n\n", fmt::join(shard, "\n"));
  partition.hash = stable_hash(text);
  return partition;
}

}  // namespace allocbench::front
