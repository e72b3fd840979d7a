#include "workloads/graph/update_checks.hpp"

#include "workloads/support/verification/recorded_pointers.hpp"

namespace allocbench::graph {
namespace {

constexpr std::uint32_t threads = 128;
constexpr std::uint32_t none = 0xffffffffu;

simt::LaunchShape grid(std::uint32_t items) {
  return {.blocks = (items + threads - 1) / threads, .threads_per_block = threads};
}

// A row is read only if its length is as expected.
struct CompareDigestsKernel {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, std::uint32_t vertices, Arrays arrays, const std::uint64_t* digests,
                          const std::uint32_t* degrees, std::uint32_t* first_wrong) const {
    const std::uint32_t vertex = thread.rank_in_grid();
    if (vertex >= vertices) return;
    bool right = arrays.degrees[vertex] == degrees[vertex] && is_block(arrays.blocks[vertex]);
    if (right) {
      const auto* const row = static_cast<const std::uint32_t*>(arrays.blocks[vertex]);
      std::uint64_t digest = 0;
      for (std::uint32_t arc = 0; arc < degrees[vertex]; ++arc) digest += digest_of(row[arc]);
      right = digest == digests[vertex];
    }
    if (!right) thread.atomic(*first_wrong).fetch_min(vertex, simt::relaxed);
  }
};

struct MarkArcsKernel {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, const std::uint64_t* sorted, std::uint32_t count, Arrays arrays,
                          std::uint32_t* marks, std::uint32_t* found) const {
    const std::uint32_t i = thread.rank_in_grid();
    if (i >= count) return;
    bool is_new = i == 0 || sorted[i - 1] != sorted[i];
    if (is_new) {
      const auto vertex = static_cast<std::uint32_t>(sorted[i] >> 32);
      const auto target = static_cast<std::uint32_t>(sorted[i]);
      const auto* const row = static_cast<const std::uint32_t*>(arrays.blocks[vertex]);
      const std::uint32_t degree = arrays.degrees[vertex];
      for (std::uint32_t arc = 0; arc < degree && is_new; ++arc) is_new = row[arc] != target;
    }
    marks[i] = is_new ? 1 : 0;
    if (is_new) thread.atomic(*found).fetch_add(1u, simt::relaxed);
  }
};

}  // namespace

DigestChecks::DigestChecks(simt::Stream& stream, const Adjacency& start, const Updates& updates)
    : stream_(stream),
      vertices_(start.vertices()),
      digests_(std::size_t{updates.batches() / interval} * vertices_),
      degrees_(std::size_t{updates.batches() / interval} * vertices_),
      first_wrong_(updates.batches() / interval) {
  if (first_wrong_.size() == 0) return;
  RowDigests now(start);
  std::vector<std::uint64_t> digests;
  std::vector<std::uint32_t> degrees;
  for (std::uint32_t batch = 0; batch < updates.batches(); ++batch) {
    now.apply(updates, updates.updates[2 * batch], true);
    if ((batch + 1) % interval == 0) {
      digests.insert(digests.end(), now.digests.begin(), now.digests.end());
      degrees.insert(degrees.end(), now.degrees.begin(), now.degrees.end());
    }
    now.apply(updates, updates.updates[2 * batch + 1], false);
  }
  digests_.from_host(stream, digests);
  degrees_.from_host(stream, degrees);
}

void DigestChecks::prepare() { first_wrong_.fill_bytes(stream_, 0xff); }

void DigestChecks::check(std::uint32_t batch, Arrays arrays) {
  if ((batch + 1) % interval != 0) return;
  const std::size_t row = batch / interval;
  const std::uint64_t* const digests = digests_.data() + row * vertices_;
  const std::uint32_t* const degrees = degrees_.data() + row * vertices_;
  simt::launch(stream_, grid(vertices_), CompareDigestsKernel{}, vertices_, arrays, digests, degrees,
               first_wrong_.data() + row);
}

std::string DigestChecks::problem() const {
  if (first_wrong_.size() == 0) return {};
  const std::vector<std::uint32_t> wrong = first_wrong_.to_host(stream_);
  for (std::size_t row = 0; row < wrong.size(); ++row) {
    if (wrong[row] == none) continue;
    return "after insertion " + std::to_string((row + 1) * interval) + " vertex " + std::to_string(wrong[row]) +
           " has other arcs than it should";
  }
  return {};
}

BatchSort::BatchSort(simt::Stream& stream, const Updates& updates, const std::vector<std::uint64_t>& drawn)
    : stream_(stream),
      arcs_(static_cast<std::uint32_t>(drawn.size() / updates.batches())),
      drawn_(drawn.size()),
      sorted_(arcs_),
      marks_(arcs_),
      found_(updates.batches()),
      sort_(arcs_) {
  for (std::uint32_t batch = 0; batch < updates.batches(); ++batch) {
    expected_.push_back(updates.arcs(updates.updates[2 * batch]));
  }
  drawn_.from_host(stream, drawn);
}

void BatchSort::prepare() {
  found_.fill_bytes(stream_, 0);
  ran_ = 0;
}

void BatchSort::run(std::uint32_t batch, Arrays arrays) {
  sort_.run(stream_, drawn_.data() + std::size_t{batch} * arcs_, sorted_.data(), arcs_);
  const std::uint64_t* const sorted = sorted_.data();
  simt::launch(stream_, grid(arcs_), MarkArcsKernel{}, sorted, arcs_, arrays, marks_.data(), found_.data() + batch);
  ran_ = batch + 1;
}

std::string BatchSort::problem() const {
  const std::vector<std::uint32_t> found = found_.to_host(stream_);
  for (std::uint32_t batch = 0; batch < ran_; ++batch) {
    if (found[batch] == expected_[batch]) continue;
    return "batch " + std::to_string(batch + 1) + " has " + std::to_string(found[batch]) + " new arcs instead of " +
           std::to_string(expected_[batch]);
  }
  return {};
}

}  // namespace allocbench::graph
