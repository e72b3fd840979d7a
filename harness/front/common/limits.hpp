// This file has the limits of user input. Limits of a config's own keys (repetitions, rounds, deadline_s, lengths of
// names) are in configs/schema/config.schema.json, which editors and plots also read. Limits of parameters are in the
// allocators and workloads. docs/limits.md lists all limits for users.
#pragma once

#include <cstddef>
#include <cstdint>

namespace allocbench::front::limits {

// A config has a few pages of text, so it needs less than this.
inline constexpr std::uint64_t config_bytes = 1u << 20;
inline constexpr std::uint64_t log_bytes = 1u << 30;
// A finding has a schedule of up to 8 MiB.
inline constexpr std::uint64_t finding_bytes = 16u << 20;

// The JSON library inserts keys by linear search, which is slow for many keys.
inline constexpr std::size_t object_keys = 1'000;

// Without this limit a range with a mistyped step could fill the memory.
inline constexpr std::size_t axis_values = 10'000;
inline constexpr std::size_t list_elements = 1'000;  // elements of a parameter that is a list
inline constexpr std::size_t text_letters = 1'000;   // letters of a parameter that is a text

// Largest number of cells of a config, counted before `exclude` removes some.
inline constexpr std::uint64_t cells = 100'000;
// A batch is one combination of allocator, parameters and pool. Each batch needs its own allocator instance.
inline constexpr std::size_t batches = 2'000;
inline constexpr std::uint64_t samples = 100'000'000;

// std::regex recurses on its pattern, so the pattern must be short.
inline constexpr std::size_t filter_letters = 200;

// At most this many machines may share a study. Slurm allows about as many tasks in an array by default (1,001).
inline constexpr std::uint64_t shards = 1'000;

// Limits of `allocbench check`: the number of runs in all, and the number of workers at once.
inline constexpr std::uint64_t check_runs = 1'000'000'000'000;
inline constexpr std::uint32_t check_jobs = 1'000;

// These limits keep messages readable.
inline constexpr std::size_t shown_problems = 100;
inline constexpr std::size_t excerpt_letters = 200;
// Longer names get no suggestion of a similar name, because the time of a comparison grows with the product of both
// lengths.
inline constexpr std::size_t compared_letters = 100;

}  // namespace allocbench::front::limits
