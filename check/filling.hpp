// This function expands models (the small programs that `allocbench check` runs) that fill a heap. The number of blocks
// of a heap depends on the allocator, so a step that fills becomes as many steps as its lanes need.
#pragma once

#include <cstdint>
#include <vector>

#include "check/model.hpp"

namespace allocbench::check {

// Expands each step that fills into steps on separate slots. The lanes of such a step together request at least a
// quarter more blocks than a fresh heap serves, unless this exceeds 64 blocks per lane or about 1,024 in all.
// `capacities` are the numbers of blocks of each size that a fresh heap serves; 0 means unknown. Steps on the same slot
// use the same new slots, so that a free finds the block of its malloc.
Model filled(const Model& model, const std::vector<std::uint32_t>& capacities);

}  // namespace allocbench::check
