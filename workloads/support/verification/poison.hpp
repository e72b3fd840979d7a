// What result slots hold before a sample, so that a slot that no kernel wrote is seen.
#pragma once

#include "simt/common.hpp"

namespace allocbench {

// As an address it is in no pool.
inline constexpr unsigned char poison_byte = 0xe7;
inline constexpr std::uint64_t poisoned_slot = 0xe7e7e7e7e7e7e7e7u;

// Whether a slot holds a block: not null, and written since it was poisoned.
SIMT_HOST_FN bool is_block(const void* slot) {
  const auto address = reinterpret_cast<std::uint64_t>(slot);
  return address != 0 && address != poisoned_slot;
}

}  // namespace allocbench
