#include "workloads/verification/pointer_rules.hpp"

namespace allocbench {

PointerRules pointer_rules(const Traits& traits, Arena& arena, bool check_overlap) {
  PointerRules result;
  result.alignment = traits.alignment;
  result.check_overlap = check_overlap;
  const Pool pool = arena.has_pool() ? arena.pool() : Pool{};
  simt::Device& device = arena.stream().device();
  if (traits.pool == PoolLocation::arena && arena.has_pool()) {
    result.pool_begin = reinterpret_cast<std::uint64_t>(pool.base);
    result.pool_end = result.pool_begin + pool.bytes;
  } else {
    result.in_device_heap = [pool, &device](const void* block) {
      return (block >= pool.base && block < pool.base + pool.bytes) || device.in_device_heap(block);
    };
  }
  return result;
}

}  // namespace allocbench
