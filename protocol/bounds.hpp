// Bounds of JSON from a pipe or a log. Values beyond them mean damaged data.
#pragma once

namespace allocbench::protocol {

// Longest time: 11 days. It is also the longest deadline.
inline constexpr double longest_seconds = 1e6;

// Levels of brackets. With more levels, recursive readers would exhaust the stack.
inline constexpr int deepest_json = 64;

}  // namespace allocbench::protocol
