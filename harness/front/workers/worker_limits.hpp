// This file has the times that the front end waits for workers.
#pragma once

namespace allocbench::front {

// Time until a worker is ready. On a busy host, a CUDA context with a large heap can take 6 s.
inline constexpr double start_limit_seconds = 60;

// Time until a prepared worker has loaded everything that needs no device. A worker that takes longer is dropped, and
// its turn starts another one.
inline constexpr double load_limit_seconds = 10;

// A running command ends at most this long after the time of the run is over.
inline constexpr double overtime_seconds = 1;
// Time for the last killed worker to end, if the run has a time limit.
inline constexpr double last_reap_limit_seconds = 8;

// Time for a worker to end after it was told to quit or announced its end. Then it is killed.
inline constexpr double quit_limit_seconds = 5;

// Time until a killed worker must be gone. A process that is stuck in a driver call stays, and then the device is lost.
inline constexpr double reap_limit_seconds = 30;

// Time for a worker's next line after the first Ctrl-C. A sample usually takes milliseconds, so only a hang or a long
// command is cut off.
inline constexpr double interrupt_grace_seconds = 2;

}  // namespace allocbench::front
