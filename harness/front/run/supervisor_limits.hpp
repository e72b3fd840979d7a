// How long the supervisor waits for workers. Cells have their own deadline, from the config.
#pragma once

namespace allocbench::front {

// Until a worker says that it is ready: a CUDA context with a large heap took 6 s on a busy host.
inline constexpr double start_limit_seconds = 60;

// Until a worker that is prepared has loaded what needs no device. Then it is dropped, and its turn starts another one.
inline constexpr double load_limit_seconds = 10;

// A cell whose series has timed out at a smaller value gets this share of its deadline, but not less than this time.
inline constexpr double share_of_hopeless = 0.1;
inline constexpr double shortest_deadline_seconds = 1;

// Of what a verification has, for its calls: those that take longer end themselves, and the worker says so in the rest.
inline constexpr double share_of_calls = 0.9;

// For a worker that was told to quit, or that announced its end, before it is killed.
inline constexpr double quit_limit_seconds = 5;

// For a killed worker to be gone. A process stuck in a driver call stays; then the device is lost for us.
inline constexpr double reap_limit_seconds = 30;

// After the first Ctrl-C the command in flight may still finish: a sample takes milliseconds, a hang is cut here.
inline constexpr double interrupt_grace_seconds = 2;

}  // namespace allocbench::front
