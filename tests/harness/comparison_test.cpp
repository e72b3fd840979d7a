#include "harness/front/compare/comparison.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "harness/front/common/errors.hpp"
#include "harness/front/common/terminal.hpp"
#include "harness/front/compare/families.hpp"
#include "tests/harness/golden_file.hpp"
#include "tests/harness/simulated_rounds.hpp"

namespace allocbench::front {
namespace {

// The argument of a side is a path of this machine, but the golden files show a short name.
Side golden_side(const std::string& name) {
  Side side = read_side(golden_path("compare/" + name + ".json"));
  side.argument = "results/" + name;
  return side;
}

std::unique_ptr<Comparison> golden_comparison() { return compare(golden_side("before"), golden_side("after"), {}); }

TEST(GoldenComparison, Text) {
  expect_golden("compare/comparison.txt", comparison_text(*golden_comparison(), false, false));
}
TEST(GoldenComparison, TextOfAll) {
  expect_golden("compare/all.txt", comparison_text(*golden_comparison(), true, false));
}
TEST(GoldenComparison, Markdown) {
  expect_golden("compare/comparison.md", comparison_markdown(*golden_comparison(), false));
}
TEST(GoldenComparison, Json) { expect_golden("compare/comparison.json", comparison_json(*golden_comparison())); }

TEST(Comparison, FitsATerminal) {
  std::istringstream text(comparison_text(*golden_comparison(), true, false));
  for (std::string line; std::getline(text, line);) EXPECT_LE(printed_width(line), 80u) << line;
}

TEST(Comparison, ProvisionalIsSaidWhereverACellIsNamed) {
  Side before = golden_side("before"), after = golden_side("after");
  const auto mark = [](Side& side, const char* allocator) {
    for (ComparedCell& cell : side.cells) cell.provisional = cell.provisional || cell.allocator == allocator;
  };
  mark(before, "gone");
  mark(after, "rare");
  mark(after, "mended");
  const auto comparison = compare(std::move(before), std::move(after), {});
  const std::string text = comparison_text(*comparison, true, false);
  EXPECT_THAT(text, testing::HasSubstr("  alloc        10.2 µs ->  10.0 µs  provisional: A and B\n"));
  EXPECT_THAT(text, testing::HasSubstr("oom -> ok (provisional)"));
  EXPECT_THAT(text, testing::HasSubstr("Only in A: 1 cell\ngone/request_bytes:16 (provisional)\n"));
  EXPECT_THAT(comparison_markdown(*comparison, true), testing::HasSubstr("| `oom` | `ok (provisional)` |"));
}

TEST(Comparison, RoundsOfSeveralRunsMakeANumber) {
  const std::string path = golden_path("compare/before.json");
  const auto is_provisional = [&](const std::vector<Results>& runs) {
    const Side side = side_of("A", runs);
    return std::any_of(side.cells.begin(), side.cells.end(), [](const ComparedCell& cell) { return cell.provisional; });
  };
  std::vector<Results> runs = read_runs(path);
  EXPECT_TRUE(is_provisional(runs));
  runs.push_back(runs.front());
  EXPECT_TRUE(is_provisional(runs)) << "a copy counts once";
  for (CellResult& cell : runs.back().cells) {
    for (PhaseResult& phase : cell.phases) phase.rounds.front().front() *= 1.01;
  }
  EXPECT_FALSE(is_provisional(runs)) << "two rounds and two make four";
}

TEST(Comparison, AgainstItselfEverythingPairsAndNothingDiffers) {
  const auto same = compare(golden_side("before"), golden_side("before"), {});
  EXPECT_EQ(same->cells.size(), 9u);
  EXPECT_EQ(same->count(Verdict::slower) + same->count(Verdict::faster), 0u);
  EXPECT_FALSE(same->regression());
}

TEST(Comparison, CellsPairByWhatDefinesThem) {
  Side other = golden_side("before");
  for (ComparedCell& cell : other.cells) cell.definition["seed"] = "2";
  try {
    compare(golden_side("before"), other, {});
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(),
                 "results/before and results/before have no cell in common. 9 pairs of cells differ in seed alone (1 "
                 "against 2). To compare them, use --ignore seed");
  }
  EXPECT_EQ(compare(golden_side("before"), other, {.ignored = {"seed"}})->cells.size(), 9u);
}

TEST(Comparison, OnePairOfCellsIsSingular) {
  Side other = golden_side("before");
  other.cells.erase(other.cells.begin() + 1, other.cells.end());
  other.cells[0].definition["seed"] = "2";
  try {
    compare(golden_side("before"), other, {});
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find(" 1 pair of cells differs in seed alone (1 against 2)."),
              std::string::npos)
        << error.what();
  }
}

TEST(Comparison, IgnoringTooMuchIsRefused) {
  try {
    compare(golden_side("before"), golden_side("after"), {.ignored = {"workload/request_bytes"}});
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(),
                testing::HasSubstr("golden/fig1/steady/request_bytes:16 and golden/fig1/steady/request_bytes:32 of "
                                   "results/before become the same cell"));
  }
}

constexpr int allocators = 13;

// Returns a side as a run with the stopping rule makes it: 13 allocators, 3 sizes, 2 phases. The first
// `slower_allocators` allocators are slower by `factor`.
Side simulated_side(const Simulation& simulation, const Spread& spread, double factor, int slower_allocators,
                    Generator& generator) {
  Side side{.argument = "simulated", .figures = {"aa"}};
  const double step = simulation.clock == Clock::exact ? 0 : device_clock_step;
  for (int allocator = 0; allocator < allocators; ++allocator) {
    Simulation own = simulation;
    if (allocator < slower_allocators) own.seconds *= factor;
    for (int size = 0; size < 3; ++size) {
      ComparedCell& cell = side.cells.emplace_back();
      cell.allocator = "allocator " + std::to_string(allocator);
      cell.id = cell.name = "aa/" + cell.allocator + "/size:" + std::to_string(size);
      cell.backend = simulation.clock == Clock::exact ? "cpu" : "cuda";
      cell.definition = {{"workload", "alloc_free"}, {"name", cell.name}};
      for (const char* phase : {"alloc", "free"}) {
        Rounds rounds = own.rounds(spread, least_rounds, generator);
        const auto wide = [&] { return *estimate(rounds, Statistic::median, step).relative_half_width() > 0.013; };
        while (rounds.size() < 20 && wide()) rounds.push_back(own.round(spread, generator));
        cell.phases.push_back({phase, std::move(rounds)});
      }
    }
  }
  return side;
}

std::vector<Simulation> simulated_runs() {
  return {{.between = 0.005, .within = 0.01, .samples = 3},
          {.between = 0.015, .within = 0.01, .samples = 3},
          {.seconds = 2.92e-6, .between = 0.003, .within = 0.005, .samples = 3, .clock = Clock::nearest},
          {.seconds = 5.8e-6, .between = 0.012, .within = 0.003, .samples = 3, .clock = Clock::difference}};
}

struct Found {
  std::size_t precise = 0;  // phases that reached the wanted precision on both sides
  std::size_t slower = 0;   // precise phases that are slower
  std::size_t faster = 0;
};

struct Plan {
  double factor = 1;
  int slower_allocators = allocators;
  double margin = default_margin;
  bool without_samples = false;
};

// Changes the side as if its run had been kept without samples.
Side without_samples(Side side) {
  for (ComparedCell& cell : side.cells) {
    for (ComparedPhase& phase : cell.phases) {
      const double step = clock_step_of(cell.backend, phase.name, cell.phases.size());
      phase.stored = StoredTime{estimate(phase.rounds, cell.statistic, step), phase.rounds.size()};
      phase.rounds.clear();
    }
  }
  return side;
}

// Counts only the phases of the slower allocators.
Found compare_simulated(const Spread& spread, const Plan& plan) {
  Found found;
  Generator generator(11);
  for (const Simulation& simulation : simulated_runs()) {
    for (int time = 0; time < 6; ++time) {
      Side a = simulated_side(simulation, spread, 1, 0, generator);
      Side b = simulated_side(simulation, spread, plan.factor, plan.slower_allocators, generator);
      if (plan.without_samples) a = without_samples(std::move(a));
      if (plan.without_samples) b = without_samples(std::move(b));
      const auto comparison = compare(std::move(a), std::move(b), {.margin = plan.margin});
      for (std::size_t i = 0; i < static_cast<std::size_t>(plan.slower_allocators) * 3; ++i) {
        for (const PhaseComparison& phase : comparison->cells[i].phases) {
          if (*phase.a.relative_half_width() > 0.013 || *phase.b.relative_half_width() > 0.013) continue;
          ++found.precise;
          found.slower += phase.verdict == Verdict::slower ? 1 : 0;
          found.faster += phase.verdict == Verdict::faster ? 1 : 0;
        }
      }
    }
  }
  return found;
}

double share(std::size_t part, const Found& found) {
  return static_cast<double>(part) / static_cast<double>(found.precise);
}

TEST(Comparison, ARunAgainstItselfIsHardlyEverSlowerOrFaster) {
  for (const double margin : {default_margin, 0.0}) {
    for (const Spread& spread : spreads()) {
      const Found found = compare_simulated(spread, {.margin = margin});
      EXPECT_GT(found.precise, 50u) << spread.name;
      EXPECT_LE(share(found.slower + found.faster, found), 0.01) << spread.name << ", margin " << margin;
    }
  }
}

TEST(Comparison, StoredIntervalsAreHardlyEverSlowerOrFasterThanThemselves) {
  for (const double margin : {default_margin, 0.0}) {
    for (const Spread& spread : spreads()) {
      const Found found = compare_simulated(spread, {.margin = margin, .without_samples = true});
      EXPECT_GT(found.precise, 50u) << spread.name;
      EXPECT_LE(share(found.slower + found.faster, found), 0.01) << spread.name << ", margin " << margin;
    }
  }
}

TEST(Comparison, StoredIntervalsShowAPlantedSlowDownOfFivePercent) {
  for (const Spread& spread : spreads()) {
    if (spread.far_modes) continue;
    const Found everywhere = compare_simulated(spread, {.factor = 1.05, .without_samples = true});
    EXPECT_GE(share(everywhere.slower, everywhere), 0.9) << spread.name;
    EXPECT_EQ(everywhere.faster, 0u) << spread.name;
  }
}

TEST(Comparison, FamiliesAreTheFirstWordsOfAllocatorsAndWorkloads) {
  const auto of = [](const std::string& allocator, const std::string& workload, double seconds) {
    ComparedCell cell;
    cell.id = cell.name = allocator + workload;
    cell.definition = {{"allocator", allocator}, {"workload", workload}};
    cell.phases = {{"alloc", {{9}, {9}, {9}}}, {"total", {{seconds}, {seconds}, {seconds}}}};
    return cell;
  };
  Side a{.argument = "a", .figures = {"f"}};
  Side b{.argument = "b", .figures = {"f"}};
  for (const char* allocator : {"halloc", "halloc_reworked", "kma"}) a.cells.push_back(of(allocator, "comb", 1));
  b.cells = {of("halloc", "comb", 1.1), of("halloc_reworked", "comb", 1.3), of("kma", "comb", 2)};
  const auto families = ratios_by_family(*compare(std::move(a), std::move(b), {}));
  ASSERT_EQ(families.size(), 3u);
  EXPECT_EQ(families[0].name, "halloc");
  EXPECT_EQ(families[0].cells, 2u);
  EXPECT_DOUBLE_EQ(families[0].median, 1.2);
  EXPECT_DOUBLE_EQ(families[0].quartiles.low, 1.15);
  EXPECT_DOUBLE_EQ(families[0].quartiles.high, 1.25);
  EXPECT_EQ(families[1].name, "kma");
  EXPECT_EQ(families[2].kind + " " + families[2].name, "workload comb");
  EXPECT_DOUBLE_EQ(families[2].median, 1.3);
  EXPECT_THAT(families_text(families),
              testing::HasSubstr("\n  allocator  halloc                      x1.20  [x1.15, x1.25]      2 cells\n"));
}

TEST(Comparison, APlantedSlowDownOfFivePercentIsFound) {
  for (const Spread& spread : spreads()) {
    // If a fifth to a half of the processes is far slower, a comparison finds fewer slow-downs, because a slow-down
    // looks like one more slow process.
    if (spread.far_modes) continue;
    const Found everywhere = compare_simulated(spread, {.factor = 1.05});
    EXPECT_GE(share(everywhere.slower, everywhere), 0.95) << spread.name;
    EXPECT_EQ(everywhere.faster, 0u) << spread.name;
    // One slower allocator is harder to find, because the correction demands more of the first change than of later
    // ones.
    const Found in_one = compare_simulated(spread, {.factor = 1.05, .slower_allocators = 1});
    EXPECT_GE(share(in_one.slower, in_one), 0.9) << spread.name << ", one slower allocator";
  }
}

}  // namespace
}  // namespace allocbench::front
