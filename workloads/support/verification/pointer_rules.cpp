#include "workloads/support/verification/pointer_rules.hpp"

namespace allocbench {

PointerRules pointer_rules(const AllocatorHandle& allocator, Arena& arena, bool check_overlap) {
  const PoolLocation location = allocator.traits().pool;
  PointerRules result;
  result.alignment = allocator.traits().alignment;
  result.check_overlap = check_overlap;
  const Pool pool = location == PoolLocation::own ? allocator.own_pool() : arena.has_pool() ? arena.pool() : Pool{};
  simt::Device& device = arena.stream().device();
  if (location == PoolLocation::arena || location == PoolLocation::own) {
    result.pool_begin = reinterpret_cast<std::uint64_t>(pool.base);
    result.pool_end = result.pool_begin + pool.bytes;
  } else {
    result.in_device_heap = [pool, &device](const void* block) {
      return (block >= pool.base && block < pool.base + pool.bytes) || device.in_device_heap(block);
    };
  }
  return result;
}

void add_room(PointerRules& rules, const RunSetting& setting) {
  const Traits& traits = setting.traits();
  rules.pool_bytes = traits.pool == PoolLocation::own ? rules.pool_end - rules.pool_begin : setting.pool_bytes;
  rules.frees = traits.frees;
  if (traits.one_block_size) rules.block_bytes = setting.max_request();
}

}  // namespace allocbench
