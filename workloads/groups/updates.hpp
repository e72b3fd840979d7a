// The kernels of workloads that change what an earlier kernel built: graph_arrays, index_nodes, particle_frames, replay
// and strings.
#pragma once

#include "workloads/graph/arrays_kernels.hpp"
#include "workloads/groups/kinds.hpp"
#include "workloads/index_nodes/kernels.hpp"
#include "workloads/particle_frames/kernels.hpp"
#include "workloads/replay/kernels.hpp"
#include "workloads/strings/kernels.hpp"

namespace allocbench::groups {

using updates = ApplicationGroup<graph::ArraysKernels, index::IndexKernels, particles::ParticleKernels,
                                 replay::ReplayKernels, text::StringsKernels>;

}  // namespace allocbench::groups
