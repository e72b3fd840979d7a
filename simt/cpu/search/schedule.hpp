// A schedule: the decisions of a run that differ from the default rule, so that the run can be repeated, shortened and
// explained.
//
// The default rule. A lane goes on until it cannot: at atomics and after group operations it stays. A lane that waits,
// spins or ends is followed by the runnable lane with the next higher rank in the grid, after the highest by the
// lowest; a launch begins with the lowest. converged() gathers as long as others of the warp may come and gives all of
// them.
//
// A decision names the lane that was asked and how far that lane had come, not the step of the launch: when another
// decision is removed, the remaining ones still hit the same places of their lanes' programs. All else that chance
// decides (virtual SMs, fresh memory) follows from the seed. The other options of the executor are no part of it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace simt {

// In Decision::lane: the executor itself, which starts the first lane and continues after a block has ended.
inline constexpr std::uint64_t no_lane = ~std::uint64_t{0};

struct Decision {
  enum class Kind : std::uint8_t {
    go_on_with,     // `value` is the rank in the grid of the next lane
    leave_at_once,  // converged(): do not wait for others
    group           // converged(): `value` is the mask of the group
  };
  std::uint32_t launch = 0;  // of the device, from 0
  std::uint64_t lane = 0;    // who is asked, by rank in the grid
  std::uint32_t step = 0;  // the so-manieth atomic, group operation, barrier or end of this lane in the launch, from 1
  std::uint32_t question = 0;  // of the questions at this step: 0, then counting spin hints and waiting at converged()
  Kind kind = Kind::go_on_with;
  std::uint64_t value = 0;

  friend bool operator==(const Decision&, const Decision&) = default;
};

struct Schedule {
  std::uint64_t seed = 1;
  std::vector<Decision> decisions;  // in the order in which they were taken

  friend bool operator==(const Schedule&, const Schedule&) = default;
};

// One line without blanks that needs no quoting in a shell: "v1:SEED:" and decisions with commas between them.
//   3.17s5     lane 3 at its step 17: go on with lane 5
//   3.17.2s5   the same at the second further question of that step
//   r.1s4      the launch begins with lane 4
//   3.18i      lane 3 does not wait at converged();  3.18gff: its group is 0x000000ff
//   @2,        the decisions that follow belong to launch 2; those in front of the first mark, to launch 0
std::string to_text(const Schedule& schedule);
// Throws Fault(environment) that names the column.
Schedule parse_schedule(std::string_view text);

}  // namespace simt
