// These are the commands of the front end to a measuring worker. harness/README.md describes them in a table.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "protocol/parameter.hpp"

namespace allocbench::protocol {

// The heap at the start of a sample. `fresh` means new: by a reset or, if the allocator has none, by a new instance or
// a new process. `reused` means that the heap is as the cell's earlier repetitions left it. `aged` is like `reused`,
// but before the first repetition many threads use the new heap for `aged_rounds` rounds
// (workloads/support/occupancy/ageing.hpp). If the allocator never frees, every sample starts with a new heap.
enum class StartState { fresh, reused, aged };
inline constexpr std::array<std::string_view, 3> start_state_words = {"fresh", "reused", "aged"};
constexpr std::string_view word(StartState state) { return start_state_words[static_cast<std::size_t>(state)]; }
constexpr std::optional<StartState> start_state_of(std::string_view text) {
  for (std::size_t i = 0; i < start_state_words.size(); ++i) {
    if (start_state_words[i] == text) return static_cast<StartState>(i);
  }
  return std::nullopt;
}

// The state of the device's L2 cache before a sample: as earlier work left it (`warm`), or full of other data
// (`flushed`).
enum class L2State { warm, flushed };
inline constexpr std::array<std::string_view, 2> l2_state_words = {"warm", "flushed"};
constexpr std::string_view word(L2State state) { return l2_state_words[static_cast<std::size_t>(state)]; }
constexpr std::optional<L2State> l2_state_of(std::string_view text) {
  for (std::size_t i = 0; i < l2_state_words.size(); ++i) {
    if (l2_state_words[i] == text) return static_cast<L2State>(i);
  }
  return std::nullopt;
}

// The settings of the repetitions of a cell.
struct CellSettings {
  std::uint64_t seed = 0;
  StartState state = StartState::fresh;
  std::uint64_t aged_rounds = 0;  // rounds of ageing, in state `aged` only
  L2State l2 = L2State::warm;
  std::uint64_t warmups = 0;
  std::uint64_t counted_passes = 1;
  double energy_seconds = 0;  // least duration of each loop of the energy measurement; 0: no energy
};

struct LoadAllocator {
  std::string allocator;
  ParameterValues parameters;
  std::uint64_t pool_bytes = 0;
};

struct OpenCell {
  std::string cell;  // id of the cell
  std::string workload;
  ParameterValues parameters;
  CellSettings settings;
};

struct VerifyCell {
  std::string cell;
  std::optional<double> seconds = {};  // time limit of each stage; calls that exceed it end themselves
  std::optional<double> contents_seconds =
      {};  // time to check all contents; if probably too short, at most 1,024 callers are checked; empty: no limit
  bool stages = false;            // whether the start of each stage is reported
  std::string trace = {};         // folder for a trace of one more pass; empty: no trace
  std::uint64_t trace_calls = 0;  // capacity of the trace's buffers for one kernel
};
struct SampleCell {
  std::string cell;
  std::uint64_t samples = 1;
  bool stages = false;  // whether the start of each stage of a repetition is reported
};
struct CloseCell {
  std::string cell;
};
struct AskProfile {};
struct Quit {};

using Command = std::variant<LoadAllocator, OpenCell, VerifyCell, SampleCell, CloseCell, AskProfile, Quit>;

}  // namespace allocbench::protocol
