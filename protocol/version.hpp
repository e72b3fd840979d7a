// This file has the version and the exit codes of the protocol in harness/README.md.
#pragma once

namespace allocbench::protocol {

// The front end refuses a worker with another version.
inline constexpr int version = 1;

inline constexpr int exit_environment = 3;
inline constexpr int exit_malformed_command = 64;
inline constexpr int exit_fatal = 70;

}  // namespace allocbench::protocol
