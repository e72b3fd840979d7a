// How long the supervisor waits for workers. Cells have their own deadline, from the config.
#pragma once

namespace allocbench::front {

// Until a worker says that it is ready: a CUDA context with a large heap took 6 s on a busy host.
inline constexpr double start_limit_seconds = 60;

// Until a worker that is prepared has loaded what needs no device. Then it is dropped, and its turn starts another one.
inline constexpr double load_limit_seconds = 10;

// What the timed kernels of a first round may take before the cell is deferred, and, where it is longer, this much of
// what they will probably take. The stages around them (filling a pool, judging pointers) may take longer.
inline constexpr double least_trial_seconds = 0.5;
inline constexpr double trial_factor = 4;
inline constexpr double trial_of_other_stages = 2;

// The contents of a cell's blocks are checked at least so long, and as long as its first round took if that is longer.
// A stage of the verification ends after `stage_factor` times that.
inline constexpr double least_contents_seconds = 0.05;
inline constexpr double least_stage_seconds = 0.5;
inline constexpr double stage_factor = 5;

// The command under way ends so long after the time of the run is over.
inline constexpr double overtime_seconds = 1;
// Time for a killed worker to end.
inline constexpr double last_reap_limit_seconds = 8;

// The share of a verification's time for each of its three stages. Calls that take longer end themselves, and the
// worker uses the rest to say so.
inline constexpr double share_of_stage = 0.3;

// For a worker that was told to quit, or that announced its end, before it is killed.
inline constexpr double quit_limit_seconds = 5;

// For a killed worker to be gone. A process stuck in a driver call stays; then the device is lost for us.
inline constexpr double reap_limit_seconds = 30;

// After the first Ctrl-C the command in flight may still finish: a sample takes milliseconds, a hang is cut here.
inline constexpr double interrupt_grace_seconds = 2;

}  // namespace allocbench::front
