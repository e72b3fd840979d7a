// A memory order that a parameter may take away.
//
// Some published designs set and clear the bits that say which blocks are in use without memory order. Then nothing
// orders the last accesses of one owner of a block before the first ones of the next (docs/findings.md). Their
// parameter `bit_orders` chooses between what is published and what is safe.
#pragma once

#include "simt/simt.hpp"

namespace allocbench {

// Which half of a hand-over has its memory order: what clears a bit or lowers a count releases, what sets a bit or
// raises a count acquires.
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
