// Beyond these, JSON that comes over a pipe or from a log is damaged.
#pragma once

namespace allocbench::protocol {

// A length of time: 11 days. No deadline may be longer either.
inline constexpr double longest_seconds = 1e6;

// Levels of brackets: recursive readers would run out of stack.
inline constexpr int deepest_json = 64;

}  // namespace allocbench::protocol
