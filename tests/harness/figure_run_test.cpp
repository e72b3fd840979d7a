// These tests check which parts of a figure count as sparse, for hand-made states of its cells.
#include <gtest/gtest.h>

#include <string>

#include "harness/front/run/supervisor.hpp"

namespace allocbench::front {
namespace {

// A figure with four cells of the allocator "a" and two of "b".
class SparsePart : public ::testing::Test {
 protected:
  SparsePart() {
    figure_.plan.figure = "fig";
    for (const std::string label : {"a", "b"}) {
      Batch& batch = figure_.plan.batches.emplace_back();
      batch.cells.resize(label == "a" ? 4 : 2);
      for (Cell& cell : batch.cells) {
        cell.label = label;
        cell.id = label + std::to_string(&cell - batch.cells.data());
      }
    }
  }

  FigureRun run() { return {figure_, Selection::unfinished, {}, forecaster_}; }

  static void give_value(CellRun& cell) { cell.rounds.emplace_back(1); }
  static Sparse part(FigureRun& run, const std::string& label) {
    run.count_values();
    return run.sparse_part(label);
  }

  Figure figure_;
  Forecaster forecaster_;
};

TEST_F(SparsePart, AFigureWithoutValuesIsSparse) {
  FigureRun run = this->run();
  EXPECT_EQ(part(run, "a"), Sparse::figure);
  EXPECT_EQ(part(run, "b"), Sparse::figure);
}

TEST_F(SparsePart, ACurveCountsWhenTheFigureHasHalfOfItsValues) {
  FigureRun run = this->run();
  for (int cell = 0; cell < 3; ++cell) give_value(run.batches[0].cells[cell]);
  EXPECT_EQ(part(run, "a"), Sparse::nothing);
  EXPECT_EQ(part(run, "b"), Sparse::curve);
  give_value(run.batches[1].cells[0]);
  EXPECT_EQ(part(run, "b"), Sparse::nothing);
}

TEST_F(SparsePart, ACellThatEndedWithoutAValueDoesNotCount) {
  FigureRun run = this->run();
  give_value(run.batches[0].cells[0]);
  for (int cell = 1; cell < 4; ++cell) run.batches[0].cells[cell].state = CellState::ended;
  EXPECT_EQ(part(run, "a"), Sparse::figure) << "one value, and two cells of b can still get one";
  run.batches[1].cells[0].state = CellState::left;
  EXPECT_EQ(part(run, "a"), Sparse::nothing);
  EXPECT_EQ(part(run, "b"), Sparse::curve);
  run.batches[1].cells[1].state = CellState::deferred;
  EXPECT_EQ(part(run, "b"), Sparse::curve) << "it comes last, but it comes";
}

TEST_F(SparsePart, ValuesOfAnEarlierRunCount) {
  for (const std::string id : {"a0", "a1", "a2"}) {
    CellHistory& known = figure_.history.cells.emplace_back();
    known.id = id;
    known.end = CellEnd{.status = id == "a2" ? Status::timeout : Status::ok};
  }
  FigureRun run = this->run();
  EXPECT_EQ(run.cells_to_run(), 3u);
  EXPECT_EQ(part(run, "a"), Sparse::figure);
  give_value(run.batches[0].cells[0]);
  EXPECT_EQ(part(run, "a"), Sparse::nothing);
  EXPECT_EQ(part(run, "b"), Sparse::curve);
}

}  // namespace
}  // namespace allocbench::front
