// A rendezvous is a meeting of the lanes of a warp. A group operation completes when every lane of the mask that has
// not exited has arrived with the same operation and mask. Except for sync, the call site must also be the same. A lane
// gets an error immediately if it arrives while another lane of its mask waits for it elsewhere.
//
// The rules are those of the CUDA and PTX manuals. The caller is in its mask. Each lane of the mask that has not exited
// executes the same operation with the same mask. Exited lanes do not block the others. A shuffle reads a participating
// lane. Only the plain warp barrier (sync) may be called from different places.
#pragma once

#include <string>

#include "simt/cpu/lane.hpp"

namespace simt {

// Returns the reason why the operation that `lane` has just begun cannot complete. Returns an empty text if it still
// can.
std::string diagnose_arrival(const Lane& lane);
std::string diagnose_barrier_arrival(const Lane& lane);

// Writes the results of the lanes that complete together with `lane`, and returns these lanes, or 0 if one is missing.
// A non-empty `error` is the reason why the completed operation is undefined.
LaneMask try_complete(const Lane& lane, std::string& error);

}  // namespace simt
