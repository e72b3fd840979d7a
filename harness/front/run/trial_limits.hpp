// This file has the short deadlines of first rounds and of verifications. The deadline of cells is in the config.
#pragma once

namespace allocbench::front {

// A first round has short deadlines. If it reaches one, the cell is deferred. The timed kernels get
// `least_trial_seconds`, or `trial_factor` times the forecast if that is longer. Every other stage gets the time of the
// kernels, multiplied by `trial_of_other_stages`.
inline constexpr double least_trial_seconds = 0.5;
inline constexpr double trial_factor = 4;
inline constexpr double trial_of_other_stages = 2;
// The stage that fills the pool may get more, because all cells of a worker can share one fill. It gets the longest of
// three times: that of the other stages, a time for the size of the pool, and a share of the config's deadline (or a
// multiple of the forecast of the fill, if longer). The third time is at most a share of the rest of the run.
inline constexpr double trial_seconds_per_filled_gib = 1;
inline constexpr double trial_share_of_deadline = 0.25;
inline constexpr double trial_factor_of_fill = 2;
inline constexpr double trial_share_of_run = 0.01;

// The contents of a cell's blocks are checked for this long, or as long as the cell's first round so far, whichever is
// longer. If the run's time is limited, the check takes at most the mean time of the remaining steps. A cell that is
// verified fully has none of these limits.
inline constexpr double least_contents_seconds = 0.05;
// Each stage of the verification ends after `factor` times the limit for contents, or after `least_seconds`, whichever
// is longer.
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
