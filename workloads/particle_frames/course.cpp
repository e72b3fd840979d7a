#include "workloads/particle_frames/course.hpp"

#include <algorithm>
#include <functional>
#include <mutex>
#include <numeric>

#include "workloads/support/parallel/parallel_for.hpp"
#include "workloads/support/random/random.hpp"

namespace allocbench::particles {
namespace {

using Counts = std::vector<std::uint32_t>;

Counts sums_of(const Counts& counts) {
  Counts sums(counts.size() + 1, 0);
  std::partial_sum(counts.begin(), counts.end(), sums.begin() + 1);
  return sums;
}

std::uint64_t frames_of(const Counts& counts, std::uint32_t capacity) {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0},
                         [&](std::uint64_t sum, std::uint32_t count) { return sum + frames_for(count, capacity); });
}

std::vector<Particle> sorted_by_cell(const Counts& cell_of, Counts next) {
  std::vector<Particle> particles(cell_of.size());
  for (std::uint32_t id = 0; id < cell_of.size(); ++id) {
    particles[next[cell_of[id]]++] = {id, {payload_word(id, 0), payload_word(id, 1), payload_word(id, 2)}};
  }
  return particles;
}

// Moves the particles by one step. Updates the cell of each particle and the number of particles in each cell.
void move(const Space& space, std::uint32_t step, std::uint32_t capacity, Counts& cell_of, Counts& counts,
          Course& course) {
  const std::uint64_t before = frames_of(counts, capacity);
  Counts arrivals(counts.size(), 0);
  std::mutex together;
  parallel_for(cell_of.size(), [&](std::size_t begin, std::size_t end) {
    Counts left(counts.size(), 0);
    Counts arrived(counts.size(), 0);
    for (std::size_t id = begin; id < end; ++id) {
      const std::uint32_t target = space.target(cell_of[id], static_cast<std::uint32_t>(id), step);
      if (target == Space::stays) continue;
      ++left[cell_of[id]];
      ++arrived[target];
      cell_of[id] = target;
    }
    const std::lock_guard lock(together);
    std::transform(counts.begin(), counts.end(), left.begin(), counts.begin(), std::minus<>{});
    std::transform(arrivals.begin(), arrivals.end(), arrived.begin(), arrivals.begin(), std::plus<>{});
  });
  const std::uint64_t between = frames_of(counts, capacity);
  std::transform(counts.begin(), counts.end(), arrivals.begin(), counts.begin(), std::plus<>{});
  course.freed.push_back(before - between);
  course.allocated.push_back(frames_of(counts, capacity) - between);
  course.begin.push_back(sums_of(arrivals));
}

}  // namespace

std::uint64_t Course::mallocs() const { return std::accumulate(allocated.begin(), allocated.end(), std::uint64_t{0}); }

std::uint32_t Course::most_arrivals() const {
  std::uint32_t most = 0;
  for (std::size_t step = 1; step < begin.size(); ++step) most = std::max(most, begin[step].back());
  return most;
}

Course work_out(const Space& space, std::uint32_t particles, std::uint32_t steps, std::uint32_t capacity,
                std::uint64_t seed) {
  Course course;
  Counts cell_of(particles);
  Counts counts(space.cells(), 0);
  parallel_for(particles, [&](std::size_t begin, std::size_t end) {
    for (std::size_t id = begin; id < end; ++id) {
      cell_of[id] = scale_to(random_words(seed, RandomStream::particle_cells, id).words[0], space.cells());
    }
  });
  for (const std::uint32_t cell : cell_of) ++counts[cell];
  course.begin.push_back(sums_of(counts));
  course.start = sorted_by_cell(cell_of, course.begin.front());
  course.allocated.push_back(frames_of(counts, capacity));
  for (std::uint32_t step = 0; step < steps; ++step) move(space, step, capacity, cell_of, counts, course);
  course.cells.resize(space.cells());
  for (std::uint32_t id = 0; id < particles; ++id) course.cells[cell_of[id]].add(id);
  Counts frames(counts.size());
  std::transform(counts.begin(), counts.end(), frames.begin(),
                 [&](std::uint32_t count) { return frames_for(count, capacity); });
  course.first_frame = sums_of(frames);
  return course;
}

}  // namespace allocbench::particles
