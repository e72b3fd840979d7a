#include "workloads/support/occupancy/page_screen.hpp"

#include <algorithm>

#include "workloads/support/parallel/sort.hpp"

namespace allocbench {
namespace {

struct ScreenKernel {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, const std::uint64_t* sorted, std::uint32_t count, std::uint64_t bytes,
                          std::uint32_t* found, std::uint64_t* offenders, std::uint32_t most) const {
    for (std::uint32_t i = thread.rank_in_grid(); i < count; i += thread.grid_size()) {
      const bool overlaps = i + 1 < count && sorted[i + 1] - sorted[i] < bytes;
      if (!overlaps && sorted[i] % 16 == 0) continue;
      const std::uint32_t place = thread.atomic(*found).fetch_add(2u, simt::relaxed);
      if (place + 2 > most) continue;
      offenders[place] = sorted[i];
      offenders[place + 1] = overlaps ? sorted[i + 1] : 0;
    }
  }
};

}  // namespace

PageScreen::PageScreen(simt::Stream& stream, std::uint32_t most_pages)
    : stream_(stream), pages_(most_pages), sorted_(most_pages > few ? most_pages : 0), counts_(2), offenders_(64) {}

void PageScreen::clear() { counts_.fill_bytes(stream_, 0); }

std::vector<RecordedBlock> PageScreen::blocks(std::uint64_t bytes, std::uint64_t nulls) const {
  const std::uint32_t count = counts_.to_host(stream_)[0];
  std::vector<std::uint64_t> addresses(count <= few ? count : 2);
  if (count > most_pages()) {
    addresses.clear();  // the caller's chains are too long, and the caller reports it
  } else if (count <= few) {
    if (count != 0) simt::copy_to_host(stream_, addresses.data(), pages_.data(), count * sizeof addresses[0]);
  } else {
    sort_words(stream_, pages_.data(), sorted_.data(), count);
    simt::copy_to_host(stream_, &addresses[0], sorted_.data(), sizeof addresses[0]);
    simt::copy_to_host(stream_, &addresses[1], sorted_.data() + count - 1, sizeof addresses[0]);
    const auto most = static_cast<std::uint32_t>(offenders_.size());
    simt::launch(stream_, {1024, 256}, ScreenKernel{}, static_cast<const std::uint64_t*>(sorted_.data()), count, bytes,
                 counts_.data() + 1, offenders_.data(), most);
    const std::vector<std::uint64_t> found = offenders_.to_host(stream_);
    const std::uint32_t kept = std::min(counts_.to_host(stream_)[1], most);
    for (std::uint32_t i = 0; i < kept; ++i) {
      if (found[i] != 0) addresses.push_back(found[i]);
    }
  }
  std::vector<RecordedBlock> result;
  for (const std::uint64_t address : addresses) result.push_back({address, bytes, result.size()});
  for (std::uint64_t i = 0; i < nulls; ++i) result.push_back({0, bytes, result.size()});
  return result;
}

}  // namespace allocbench
