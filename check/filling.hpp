// Models that fill a heap. The number of blocks of a heap depends on the allocator, so a step that fills is expanded
// into as many steps as its lanes need.
#pragma once

#include <cstdint>
#include <vector>

#include "check/model.hpp"

namespace allocbench::check {

// Each step that fills is expanded into steps on separate slots. Its lanes together request a quarter more than a fresh
// heap serves, and at least one block each. `capacities` are the numbers of blocks of each size that a fresh heap
// serves; 0 if unknown. Steps on the same slot use the same new slots, so that a free finds the block of its malloc.
Model filled(const Model& model, const std::vector<std::uint32_t>& capacities);

}  // namespace allocbench::check
