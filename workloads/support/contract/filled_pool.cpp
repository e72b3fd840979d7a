#include "workloads/support/contract/filled_pool.hpp"

#include <algorithm>

namespace allocbench {

FilledPool::FilledPool(const Arena& arena, const Requests& requests, void* const* blocks)
    : requests_(requests), blocks_(requests.count) {
  for (const std::span<std::byte> part : arena.parts()) {
    parts_.emplace_back(part.size());
    simt::copy_on_device(arena.stream(), parts_.back().data(), part.data(), part.size());
  }
  simt::copy_on_device(arena.stream(), blocks_.data(), blocks, blocks_.size() * sizeof(void*));
}

std::size_t FilledPool::bytes_for(const Arena& arena, const Requests& requests) {
  std::size_t bytes = requests.count * sizeof(void*);
  for (const std::span<std::byte> part : arena.parts()) bytes += part.size();
  return bytes;
}

std::size_t FilledPool::bytes() const {
  std::size_t bytes = blocks_.size() * sizeof(void*);
  for (const simt::Buffer<std::byte>& part : parts_) bytes += part.size();
  return bytes;
}

void FilledPool::restore(const Arena& arena, void** blocks) const {
  const std::vector<std::span<std::byte>> parts = arena.parts();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    simt::copy_on_device(arena.stream(), parts[i].data(), parts_[i].data(), parts[i].size());
  }
  simt::copy_on_device(arena.stream(), blocks, blocks_.data(), blocks_.size() * sizeof(void*));
}

const FilledPool* FilledPools::find(const FilledPool::Requests& requests) const {
  const FilledPool* most = nullptr;
  for (const FilledPool& pool : pools_) {
    if (pool.requests() == requests) return &pool;
    const bool more = most == nullptr || pool.requests().count > most->requests().count;
    if (more && pool.requests().begin(requests)) most = &pool;
  }
  return most;
}

std::size_t FilledPools::bytes() const {
  std::size_t bytes = 0;
  for (const FilledPool& pool : pools_) bytes += pool.bytes();
  return bytes;
}

std::size_t FilledPools::most_bytes(const Arena& arena) const {
  return (arena.stream().device().properties().free_memory_bytes + bytes()) / 4;
}

bool FilledPools::has_room_for_many(const Arena& arena, const FilledPool::Requests& requests) const {
  constexpr std::size_t many = 16;
  return FilledPool::bytes_for(arena, requests) <= most_bytes(arena) / many;
}

void FilledPools::keep(const Arena& arena, const FilledPool::Requests& requests, void* const* blocks) {
  std::erase_if(pools_, [&](const FilledPool& pool) { return pool.requests() == requests; });
  std::size_t kept = bytes();
  const std::size_t most = most_bytes(arena);
  const std::size_t needed = FilledPool::bytes_for(arena, requests);
  if (needed > most) return;
  while (kept + needed > most) {
    kept -= pools_.front().bytes();
    pools_.pop_front();
  }
  try {
    pools_.emplace_back(arena, requests, blocks);
  } catch (const simt::Fault& fault) {
    if (fault.kind() != simt::FaultKind::out_of_memory) throw;
    pools_.clear();  // the memory is needed elsewhere
  }
}

}  // namespace allocbench
