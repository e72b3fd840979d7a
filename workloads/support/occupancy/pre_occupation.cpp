#include "workloads/support/occupancy/pre_occupation.hpp"

#include <cmath>

#include "workloads/support/callers/requirements.hpp"

namespace allocbench {
namespace {

constexpr std::uint64_t most_requests = 1ull << 28;

std::uint32_t requests(const RunSetting& setting, std::uint64_t page_bytes, double free_share) {
  if (free_share >= 1 || setting.allocator.marks_pages()) return 0;
  if (setting.traits().frees == Frees::never) return 1;
  return static_cast<std::uint32_t>(setting.pool_bytes / pad(page_bytes, 16));
}

}  // namespace

PreOccupation::PreOccupation(const RunSetting& setting, std::uint64_t page_bytes, double free_share,
                             simt::Stream& stream)
    : stream_(stream),
      pool_bytes_(setting.pool_bytes),
      page_bytes_(page_bytes),
      used_share_(1 - free_share),
      seed_(setting.seed),
      occupants_(stream, requests(setting, page_bytes, free_share)) {}

std::string PreOccupation::unsupported(const RunSetting& setting, std::uint64_t page_bytes, double free_share) {
  if (free_share >= 1 || setting.traits().frees == Frees::never) return {};
  if (setting.traits().frees != Frees::individually) {
    return setting.display_name() + " does not free single blocks: no pages could be made free before";
  }
  if (setting.traits().whole_warp_calls) {
    return setting.display_name() +
           " needs all lanes of a warp to call together, also when single pages are made free before";
  }
  const std::uint64_t requests = setting.pool_bytes / pad(page_bytes, 16);
  if (!setting.allocator.marks_pages() && requests > most_requests) {
    return std::to_string(requests) + " requests would fill the pool; at most " + std::to_string(most_requests) +
           " are kept";
  }
  return why_too_many_free(page_bytes, free_share, setting);
}

void PreOccupation::enter(const AllocatorHandle& allocator) {
  if (used_share_ <= 0) return;
  if (allocator.type().marks_pages()) {
    allocator.occupy(stream_, chosen(allocator.page_count()));
  } else if (allocator.traits().frees == Frees::never) {
    // A multiple of 16 bytes keeps the next block aligned.
    const auto bytes = static_cast<std::uint64_t>(static_cast<double>(pool_bytes_) * used_share_) / 16 * 16;
    occupants_.enter(allocator, bytes, PageSet::first(1));
  } else {
    occupants_.enter(allocator, page_bytes_, chosen(occupants_.count()));
  }
}

void PreOccupation::leave(const AllocatorHandle& allocator) {
  if (used_share_ <= 0 || allocator.is_reset_afterwards()) return;
  if (allocator.type().marks_pages()) {
    allocator.reset(stream_);
  } else if (allocator.traits().frees != Frees::never) {
    occupants_.leave(allocator, chosen(occupants_.count()));
  }
}

PageSet PreOccupation::chosen(std::uint32_t count) const {
  return PageSet::by_chance(std::max(count, 1u), static_cast<std::uint32_t>(std::llround(count * used_share_)), seed_);
}

}  // namespace allocbench
