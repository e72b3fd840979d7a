// This file computes, on the host, the movements of the particles and the requests for frames of particle_frames. This
// code does not depend on devices.
#pragma once

#include <vector>

#include "workloads/particle_frames/particles.hpp"
#include "workloads/support/random/mix.hpp"

namespace allocbench::particles {

struct Course {
  // All particles at the start, cell by cell.
  std::vector<Particle> start;
  // begin[0] belongs to the start, and begin[s] with s > 0 to step s - 1: begin[s][c] to begin[s][c + 1] - 1 are the
  // places of the particles that come to cell c.
  std::vector<std::vector<std::uint32_t>> begin;
  // Numbers of frames that each step frees and allocates. The first entry of `allocated` is for the start.
  std::vector<std::uint64_t> freed;
  std::vector<std::uint64_t> allocated;
  // The state of each cell at the end: the digest of its particles, and the index of its first frame. `first_frame`
  // ends with the number of all frames.
  std::vector<MultisetDigest> cells;
  std::vector<std::uint32_t> first_frame;

  std::uint32_t frames_at_the_end() const { return first_frame.back(); }
  // kept_input() calls this function.
  template <class Self, class Visit>
  static void for_each_part(Self& self, const Visit& visit) {
    visit(self.start);
    visit(self.begin);
    visit(self.freed);
    visit(self.allocated);
    visit(self.cells);
    visit(self.first_frame);
  }
  std::uint64_t mallocs() const;
  std::uint32_t most_arrivals() const;
};

Course work_out(const Space& space, std::uint32_t particles, std::uint32_t steps, std::uint32_t capacity,
                std::uint64_t seed);

}  // namespace allocbench::particles
