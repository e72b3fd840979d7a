#include "workloads/contract/filled_pool.hpp"

namespace allocbench {

std::unique_ptr<FilledPool> FilledPool::copy_of(const Arena& arena, const Requests& requests, void* const* blocks) {
  std::size_t bytes = 0;
  for (const std::span<std::byte> part : arena.parts()) bytes += part.size();
  // Cells that are opened later, and their checks, need memory too.
  if (bytes > arena.stream().device().properties().free_memory_bytes / 4) return nullptr;
  try {
    return std::unique_ptr<FilledPool>(new FilledPool(arena, requests, blocks));
  } catch (const simt::Fault& fault) {
    if (fault.kind() != simt::FaultKind::out_of_memory) throw;
    return nullptr;
  }
}

FilledPool::FilledPool(const Arena& arena, const Requests& requests, void* const* blocks)
    : requests_(requests), blocks_(requests.count) {
  for (const std::span<std::byte> part : arena.parts()) {
    parts_.emplace_back(part.size());
    simt::copy_on_device(arena.stream(), parts_.back().data(), part.data(), part.size());
  }
  simt::copy_on_device(arena.stream(), blocks_.data(), blocks, blocks_.size() * sizeof(void*));
}

void FilledPool::restore(const Arena& arena, void** blocks) const {
  const std::vector<std::span<std::byte>> parts = arena.parts();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    simt::copy_on_device(arena.stream(), parts[i].data(), parts_[i].data(), parts[i].size());
  }
  simt::copy_on_device(arena.stream(), blocks, blocks_.data(), blocks_.size() * sizeof(void*));
}

}  // namespace allocbench
