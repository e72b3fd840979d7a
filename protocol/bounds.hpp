// These are bounds of JSON from a pipe or a log. Values beyond these bounds mean that the data is damaged.
#pragma once

namespace allocbench::protocol {

// Longest time in seconds (11 days). It is also the longest deadline.
inline constexpr double longest_seconds = 1e6;

// Most levels of brackets. With more levels, recursive readers would exhaust the stack.
inline constexpr int deepest_json = 64;

}  // namespace allocbench::protocol
