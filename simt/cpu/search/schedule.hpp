// A schedule contains the decisions of a run that differ from the default rule. It is used to repeat, shorten and
// explain the run.
//
// The default rule: A lane continues as long as it can, also at atomics and after group operations. If a lane waits,
// spins or ends, the runnable lane with the next higher rank in the grid follows. The lowest rank follows the highest.
// A launch begins with the lowest rank. converged() waits a limited time for other lanes of the warp, and returns all
// that have arrived. Every store is visible to others immediately, and a load reads the newest value.
//
// A decision names a lane and a step of this lane, not a step of the launch. A decision about converged() names a warp
// and one of its calls. So if one decision is removed, the others still apply to the same places in the programs of
// their lanes. All other random values (virtual SMs, fresh memory) follow from the seed. Except for the seed, a
// schedule contains no options of the executor.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace simt {

// Value of Decision::lane for the executor itself, which starts the first lane and continues after the end of a block.
inline constexpr std::uint64_t no_lane = ~std::uint64_t{0};

struct Decision {
  enum class Kind : std::uint8_t {
    go_on_with,     // `value` is the rank in the grid of the next lane
    leave_at_once,  // the first lane of a warp at a converged() does not wait for others
    group,          // `value` is the mask that converged() returns to a lane, which is always in it
    hold_store,     // the lane's store becomes visible to others `value` of its steps later
    read_old        // the lane's load reads the value `value` places before the newest, or the oldest that it may read
  };
  std::uint32_t launch = 0;  // number of the launch on the device, counted from 0
  std::uint64_t lane = 0;    // rank in the grid of the lane that is asked
  // Place of the decision, counted from 1. For go_on_with, hold_store and read_old, it is the number of this lane's
  // atomic, group operation, barrier or end in this launch. For the other kinds, it is the number of the gathering or
  // group of the warp whose lowest lane is `lane`.
  std::uint32_t step = 0;
  std::uint32_t question = 0;  // waits of the lane since then (at a spin hint, at converged() or parked)
  Kind kind = Kind::go_on_with;
  std::uint64_t value = 0;

  friend bool operator==(const Decision&, const Decision&) = default;
};

struct Schedule {
  std::uint64_t seed = 1;
  std::vector<Decision> decisions;  // decisions in the order in which they were taken

  friend bool operator==(const Schedule&, const Schedule&) = default;
};

// Returns one line without blanks, which needs no quotes in a shell: "v1:SEED:" and the decisions, separated by commas.
//   3.17s5     lane 3 at its step 17: go on with lane 5
//   3.17.2s5   the same when it waits for the second time after that step
//   r.1s4      the launch begins with lane 4
//   32.6i      the first lane to reach the sixth converged() of the warp of lane 32 does not wait
//   32.7gff    the seventh group of that warp is 0x000000ff without the lanes that have not come
//   3.18h4     the store that lane 3 makes at its step 18 becomes visible four of its steps later
//   3.18o2     the load of lane 3 at its step 18 reads the value two before the newest value of its word
//   @2,        the next decisions belong to launch 2; decisions before the first mark belong to launch 0
std::string to_text(const Schedule& schedule);
// Reads a schedule. Throws Fault(environment) with the column of the first error, if there is one.
Schedule parse_schedule(std::string_view text);

}  // namespace simt
