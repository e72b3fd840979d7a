// What the front end tells a measuring worker to do (harness/README.md has the table).
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "harness/protocol/parameter.hpp"

namespace allocbench::protocol {

// Where a sample starts from.
enum class StartState { fresh, reused };
// The device's L2 cache before a sample: as the work before left it, or full of something else.
enum class L2State { warm, flushed };

struct LoadAllocator {
  std::string allocator;
  ParameterValues parameters;
  std::uint64_t pool_bytes = 0;
};

struct OpenCell {
  std::string cell;  // its id
  std::string workload;
  ParameterValues parameters;
  std::uint64_t seed = 0;
  StartState state = StartState::fresh;
  L2State l2 = L2State::warm;
  std::uint64_t warmups = 0;
  std::uint64_t counted_passes = 1;
};

struct VerifyCell {
  std::string cell;
};
struct SampleCell {
  std::string cell;
  std::uint64_t samples = 1;
};
struct CloseCell {
  std::string cell;
};
struct AskProfile {};
struct Quit {};

using Command = std::variant<LoadAllocator, OpenCell, VerifyCell, SampleCell, CloseCell, AskProfile, Quit>;

}  // namespace allocbench::protocol
