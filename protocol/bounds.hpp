// These are bounds of JSON from a pipe, a log or a config. Values beyond them are refused.
#pragma once

namespace allocbench::protocol {

// Longest time in seconds (11.6 days), also for the deadline in a config.
inline constexpr double longest_seconds = 1e6;

// Most levels of brackets. Without this bound, recursive readers could exhaust the stack.
inline constexpr int deepest_json = 64;

}  // namespace allocbench::protocol
