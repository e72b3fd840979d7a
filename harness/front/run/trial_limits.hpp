// This file has the short deadlines of first rounds and of verifications. The deadline of cells is in the config.
#pragma once

namespace allocbench::front {

// The short deadline of a first round, after which the cell is deferred. The timed kernels get `least_trial_seconds`,
// or `trial_factor` times the forecast if that is longer. Each other stage gets `trial_of_other_stages` times as long.
// The stage that fills the pool may get more, because all cells of a worker can share one fill.
inline constexpr double least_trial_seconds = 0.5;
inline constexpr double trial_factor = 4;
inline constexpr double trial_of_other_stages = 2;
inline constexpr double trial_seconds_per_filled_gib = 1;
inline constexpr double trial_share_of_deadline = 0.25;
inline constexpr double trial_factor_of_fill = 2;
inline constexpr double trial_share_of_run = 0.01;

// Least time for checking the contents of a cell's blocks, unless the cell is verified fully.
inline constexpr double least_contents_seconds = 0.05;
// A stage of the verification ends after `factor` times the time for contents, or after `least_seconds` if longer.
struct StageLimits {
  double least_seconds;
  double factor;
};
inline constexpr StageLimits stage_limits{.least_seconds = 0.5, .factor = 5};
// A worker checks reset() only once for all cells with the same parameters of the allocator, but it tries again for
// each cell until one check has finished. So every cell would pay for a limit that is a little too short. The next
// verifications get this shorter limit only if the usual one did not suffice and the run's time is limited.
inline constexpr StageLimits stage_limits_after_an_unfinished_check{.least_seconds = 0.1, .factor = 2};

// Largest share of a cell's remaining deadline for each stage of its verification. Calls that take longer end
// themselves, and the worker uses the rest of the deadline to report this.
inline constexpr double share_of_stage = 0.3;

}  // namespace allocbench::front
