// Checking runs every model of a plan on every allocator of the plan, with several workers at once, and fills a
// CheckMatrix with the results.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "harness/front/check/check_command.hpp"
#include "harness/front/check/check_plan.hpp"
#include "harness/front/check/crew.hpp"
#include "harness/front/check/matrix.hpp"

namespace allocbench::front {

// Returns the number of runs of an allocator on each model, if `seeds` runs are spread over the models of the plan.
std::uint64_t seeds_per_model(std::uint64_t seeds, const CheckPlan& plan);

class Checking {
 public:
  // Keeps references to the plan and the options, which must outlive this object.
  Checking(const CheckPlan& plan, const CheckOptions& options, std::string strategy, bool stop_at_failure);

  // Returns false if the user interrupted.
  bool run();
  const CheckMatrix& matrix() const { return matrix_; }

 private:
  void add_cells(bool races, const std::vector<std::string>& allocators, std::uint64_t seeds);
  // Returns a task with the next seeds of the first cell that needs more runs, or nullopt if no cell needs any.
  std::optional<CheckTask> next_task();
  CheckTask task(std::size_t cell, std::uint64_t first, std::uint64_t count) const;
  void take(const CheckTask& done, const CheckAnswer& answer);
  void narrow_down(const CheckTask& lost, const CheckAnswer& answer);
  Finding new_finding(const CheckCell& cell, std::uint64_t seed) const;
  bool exhaustive() const { return strategy_.starts_with("dfs"); }
  void show_progress();

  const CheckPlan& plan_;
  const CheckOptions& options_;
  std::string strategy_;
  bool stop_at_failure_;
  CheckMatrix matrix_;
  CheckCrew crew_;
  std::size_t current_ = 0;        // cell whose tasks next_task() returns
  std::uint64_t seeds_given_ = 0;  // seeds of the current cell that are already in tasks
  std::uint64_t planned_ = 0;      // planned runs of all cells
  std::uint64_t done_ = 0;
  bool progress_shown_ = false;
  std::chrono::steady_clock::time_point last_shown_;
};

}  // namespace allocbench::front
