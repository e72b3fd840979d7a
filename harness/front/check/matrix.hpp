// CheckMatrix is the result of `allocbench check`: a matrix of allocators and models. It is printed as text or as JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/front/check/finding.hpp"

namespace allocbench::front {

// CheckCell is one search: one allocator on one model, for failing schedules or for races.
struct CheckCell {
  std::string allocator;
  std::size_t model = 0;  // position in CheckMatrix::models
  bool races = false;
  std::string unsupported;  // why the allocator cannot run the model, or empty
  std::uint64_t planned = 0;
  std::uint64_t tried = 0;   // runs made so far
  std::uint64_t failed = 0;  // runs that failed
  std::uint64_t steps = 0;
  std::optional<Finding> finding;  // first failure
};

struct CheckMatrix {
  std::vector<std::string> allocators;
  std::vector<std::string> models;
  // The beginning of the command that replays a finding of this matrix, such as "allocbench check --workers DIR".
  std::string command = "allocbench check";
  std::vector<std::string>
      model_options;  // option with the file of each model, " --model FILE"; empty for built-in models
  std::vector<CheckCell> cells;
  bool races_looked_for = false;
  double seconds = 0;

  std::size_t findings() const;
  // Returns the command line that replays the finding of a cell. `folder` is the folder of the findings.
  std::string replay_command(const CheckCell& cell, const std::string& folder) const;
};

// `folder` is the folder of the findings. matrix_text() shows each model and each finding, short_text() some lines for
// each allocator.
std::string short_text(const CheckMatrix& matrix, const std::string& folder);
std::string matrix_text(const CheckMatrix& matrix, const std::string& folder, bool colours);
std::string matrix_json(const CheckMatrix& matrix, const std::string& folder);

// Returns a table with the share of failing runs, with one row per allocator and one column per strategy. Each row is
// for the model on which the allocator fails most often. All matrices must have the same models.
std::string strategy_table(const std::vector<std::pair<std::string, CheckMatrix>>& by_strategy);

}  // namespace allocbench::front
