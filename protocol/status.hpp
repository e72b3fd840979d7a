// The status words say how a cell ended. A number is only valid with the status ok.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace allocbench {

// Only the front end sets `ok`, `skipped` and `crashed`. Workers report the other status words. The front end also sets
// `timeout`, if a worker does not answer.
enum class Status { ok, skipped, unsupported, oom, incorrect, timeout, device_fault, crashed };

inline constexpr std::array<std::string_view, 8> status_words = {"ok",        "skipped", "unsupported",  "oom",
                                                                 "incorrect", "timeout", "device_fault", "crashed"};

constexpr std::string_view word(Status status) { return status_words[static_cast<std::size_t>(status)]; }

constexpr std::optional<Status> status_of(std::string_view text) {
  for (std::size_t i = 0; i < status_words.size(); ++i) {
    if (status_words[i] == text) return static_cast<Status>(i);
  }
  return std::nullopt;
}

// Returns whether the status makes a run fail. `unsupported` is not a failure, because the allocator, the workload or
// the back end rules out such a cell. `skipped` is a failure, because the cell has no result.
constexpr bool counts_as_failure(Status status) { return status != Status::ok && status != Status::unsupported; }

}  // namespace allocbench
