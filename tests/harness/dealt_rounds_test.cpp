// These tests divide the rounds of each kept run of configs/aa.json and configs/aa_*.json on one card into pairs of
// runs. They show what a comparison of runs with up to twenty rounds (the default on a GPU) reports about the same
// card, and about a card that is 5 % slower.
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/random/uniform_int_distribution.hpp>
#include <filesystem>
#include <numeric>

#include "harness/front/compare/comparison.hpp"
#include "tests/harness/golden_file.hpp"
#include "tests/harness/simulated_rounds.hpp"

namespace allocbench::front {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t default_rounds_on_gpu = 20;
constexpr double default_precision = 0.013;
constexpr int deals = 20;

const fs::path reference = fs::path(ALLOCBENCH_GOLDEN_FOLDER) / "../../../results/reference";

std::vector<fs::path> kept_runs() {
  std::vector<fs::path> found;
  for (const fs::directory_entry& device : fs::directory_iterator(reference)) {
    if (!device.is_directory()) continue;
    for (const fs::directory_entry& runs : fs::directory_iterator(device)) {
      const std::string name = runs.path().filename();
      if (runs.is_directory() && (name == "aa" || name.starts_with("aa_"))) found.push_back(runs.path());
    }
  }
  return found;
}

bool is_precise(const Rounds& rounds) {
  const auto half_width = estimate(rounds, Statistic::median, device_clock_step).relative_half_width();
  return half_width && *half_width <= default_precision;
}

// Shuffles the rounds of a cell and deals them to both sides in turn. A side gets rounds until each phase is precise,
// it has twenty rounds, or its rounds are used up. The times of `other` are multiplied by `factor`.
void deal(const ComparedCell& kept, Generator& generator, Side& one, Side& other, double factor) {
  const std::size_t count = kept.phases.front().rounds.size();
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t left = count; left > 1; --left) {
    std::swap(order[left - 1], order[boost::random::uniform_int_distribution<std::size_t>(0, left - 1)(generator)]);
  }
  for (Side* side : {&one, &other}) {
    ComparedCell cell = kept;
    for (ComparedPhase& phase : cell.phases) phase.rounds.clear();
    for (std::size_t place = side == &one ? 0 : 1; place < count; place += 2) {
      if (cell.phases.front().rounds.size() == default_rounds_on_gpu) break;
      for (std::size_t phase = 0; phase < cell.phases.size(); ++phase) {
        cell.phases[phase].rounds.push_back(kept.phases[phase].rounds[order[place]]);
      }
      const auto precise = [](const ComparedPhase& phase) { return is_precise(phase.rounds); };
      if (std::all_of(cell.phases.begin(), cell.phases.end(), precise)) break;
    }
    for (ComparedPhase& phase : cell.phases) {
      for (std::vector<double>& round : phase.rounds) {
        for (double& seconds : round) seconds *= side == &other ? factor : 1;
      }
    }
    side->cells.push_back(std::move(cell));
  }
}

struct Found {
  double precise = 0;  // phases that reached the wanted precision on both sides
  double slower = 0;   // precise phases that are slower
  double faster = 0;
};

Found compare_dealt(const Side& kept, double factor) {
  Found found;
  Generator generator(5);
  for (int time = 0; time < deals; ++time) {
    Side one{.argument = "one", .figures = kept.figures};
    Side other{.argument = "other", .figures = kept.figures};
    for (const ComparedCell& cell : kept.cells) deal(cell, generator, one, other, factor);
    const auto comparison = compare(std::move(one), std::move(other), {});
    for (const CellComparison& cell : comparison->cells) {
      for (const PhaseComparison& phase : cell.phases) {
        if (*phase.a.relative_half_width() > default_precision) continue;
        if (*phase.b.relative_half_width() > default_precision) continue;
        ++found.precise;
        found.slower += phase.verdict == Verdict::slower ? 1 : 0;
        found.faster += phase.verdict == Verdict::faster ? 1 : 0;
      }
    }
  }
  return found;
}

TEST(DealtRounds, OfOneCardHardlyEverDiffer) {
  for (const fs::path& runs : kept_runs()) {
    const Found found = compare_dealt(read_side(runs.string()), 1);
    EXPECT_GT(found.precise, 100) << runs;
    EXPECT_LE((found.slower + found.faster) / found.precise, 0.01) << runs;
  }
}

// The variances of a config's other cells count, too. So a small config with a few noisy cells hides more of the
// slow-downs of its precise cells. At least nine of ten slow-downs are found in each config, and at least 95 % in all
// configs together.
TEST(DealtRounds, ShowAPlantedSlowDownOfFivePercent) {
  Found all;
  for (const fs::path& runs : kept_runs()) {
    const Found found = compare_dealt(read_side(runs.string()), 1.05);
    EXPECT_GT(found.precise, 100) << runs;
    EXPECT_GE(found.slower / found.precise, 0.9) << runs;
    all.precise += found.precise;
    all.slower += found.slower;
  }
  EXPECT_GE(all.slower / all.precise, 0.95) << all.slower << " of " << all.precise;
}

}  // namespace
}  // namespace allocbench::front
