// These exceptions end a command. Their texts are complete sentences for the user.
#pragma once

#include <stdexcept>

namespace allocbench::front {

// The exit codes of `allocbench`. docs/command-line.md has a table of their meanings.
enum ExitCode : int {
  exit_all_ok = 0,
  exit_some_not_ok = 1,
  exit_usage = 2,
  exit_environment = 3,
  exit_regression = 4,
  exit_interrupted = 130  // 128 + SIGINT, as shells expect
};

// The command line, a config or the chosen folder is wrong, and the user can correct it. The exit code is 2.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The machine cannot do the requested work: there is no device or no worker, the device fails, or a folder is not
// writable. The exit code is 3.
struct EnvironmentError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The user interrupted a command that has nothing to finish. The exit code is 130. It is no EnvironmentError, because
// code that does without a device or a worker must not continue after Ctrl-C.
struct Interrupted {};

}  // namespace allocbench::front
