// This file has the value of result slots before a sample. This value reveals slots that no kernel wrote.
#pragma once

#include "simt/common.hpp"

namespace allocbench {

// No pool contains the address poisoned_slot.
inline constexpr unsigned char poison_byte = 0xe7;
inline constexpr std::uint64_t poisoned_slot = 0xe7e7e7e7e7e7e7e7u;

// Returns whether a slot has a block: it is neither null nor the poison.
SIMT_HOST_FN bool is_block(const void* slot) {
  const auto address = reinterpret_cast<std::uint64_t>(slot);
  return address != 0 && address != poisoned_slot;
}

}  // namespace allocbench
