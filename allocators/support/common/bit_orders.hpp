// BitOrders selects the memory orders of operations on bits. A parameter of the allocator sets BitOrders.
//
// Some published designs set and clear the bits of blocks in use without a memory order. Then nothing orders the last
// accesses of an owner of a block before the first accesses of the next owner (docs/findings.md). The parameter
// `bit_orders` of these designs chooses between the published and the safe form.
#pragma once

#include "simt/simt.hpp"

namespace allocbench {

// BitOrders selects the halves of a hand-over that have a memory order. `clearing_releases` gives release order to
// operations that clear a bit or lower a count. `setting_acquires` gives acquire order to operations that set a bit or
// raise or read a count. Without its flag, an operation is relaxed.
struct BitOrders {
  bool clearing_releases = false;
  bool setting_acquires = false;

  template <class Access>
  SIMT_FN auto setting(const Access& access) const {
    return setting_acquires ? access(simt::acquire) : access(simt::relaxed);
  }
  template <class Access>
  SIMT_FN auto clearing(const Access& access) const {
    return clearing_releases ? access(simt::release) : access(simt::relaxed);
  }
};

}  // namespace allocbench
