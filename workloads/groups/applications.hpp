// The kernels of the applications, which every plug-in compiles in a part of its own.
#pragma once

#include "workloads/graph/arrays_kernels.hpp"
#include "workloads/graph/build_kernels.hpp"
#include "workloads/group_by/kernels.hpp"
#include "workloads/hash_join/kernels.hpp"
#include "workloads/index_nodes/kernels.hpp"
#include "workloads/kd_tree/kernels.hpp"
#include "workloads/particle_frames/kernels.hpp"
#include "workloads/strings/kernels.hpp"

namespace allocbench {

using ApplicationKernels =
    JoinedKernels<GraphBuildKernels, graph::ArraysKernels, HashJoinKernels, group::GroupByKernels, KdTreeKernels,
                  particles::ParticleKernels, index::IndexKernels, text::StringsKernels>;

}  // namespace allocbench
