// Models that fill a heap: how many blocks a heap holds depends on the allocator, so a step that fills stands for as
// many steps as its lanes need.
#pragma once

#include <cstdint>
#include <vector>

#include "check/model.hpp"

namespace allocbench::check {

// Each step that fills becomes steps on slots of their own. Its lanes together ask for a quarter more than a fresh heap
// serves, and at least for one block each. `capacities`: how many blocks of each size a fresh heap serves; 0 where that
// is unknown. Steps on the same slot stay on the same slots, so that a free finds the block of its malloc.
Model filled(const Model& model, const std::vector<std::uint32_t>& capacities);

}  // namespace allocbench::check
