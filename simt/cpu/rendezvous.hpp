// Where the lanes of a warp meet: group operations complete when every lane of the mask that has not exited arrived
// with the same operation, mask and call site. Arrivals that can never complete are diagnosed at once.
//
// The rules are those of the CUDA and PTX manuals: the caller is in its mask; each non-exited lane of the mask executes
// the same operation with the same mask; exited lanes do not block the others; a shuffle reads a participating lane.
// Only the plain warp barrier (sync) may be reached from different program points.
#pragma once

#include <string>

#include "simt/cpu/lane.hpp"

namespace simt {

// Why the operation that `lane` just began cannot complete; empty when it still can.
std::string diagnose_arrival(const Lane& lane);
std::string diagnose_barrier_arrival(const Lane& lane);

// The lanes that complete together with `lane`: their results are written; 0 when some lane is still missing. A
// non-empty `error` says why the completed operation is undefined.
LaneMask try_complete(const Lane& lane, std::string& error);

}  // namespace simt
