// This file has the kernels of particle_frames that call the allocator: one lets cells grow, and the other one lets
// cells shrink. Each cell has a warp, whose first lane allocates and frees.
#pragma once

#include "allocators/support/contract/session.hpp"
#include "simt/simt.hpp"
#include "workloads/particle_frames/particles.hpp"
#include "workloads/support/contract/kernel_list.hpp"

namespace allocbench::particles {

// The data of both kernels. `turn` is the number of warps by which the cells have moved.
struct Cells {
  Cell* cells;
  Space space;
  std::uint32_t capacity;  // particles per frame
  std::uint32_t turn;

  // Returns the cell of the calling warp, or Space::stays if it has none.
  template <class Thread>
  SIMT_FN std::uint32_t mine(Thread& thread) const {
    const std::uint32_t warp = thread.rank_in_grid() / simt::warp_size;
    if (warp >= space.cells()) return Space::stays;
    return static_cast<std::uint32_t>((std::uint64_t{warp} + turn) % space.cells());
  }
};

// Adds the arrived particles frame by frame. The warp stops at a null; the remaining particles are lost and count as
// one failure.
struct GrowCellsKernel {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, Cells cells, std::uint32_t frame_bytes, Arrivals arrivals,
                          std::uint64_t* failures) const {
    const std::uint32_t index = cells.mine(thread);
    if (index == Space::stays) return;
    auto&& session = attach(allocator, thread);
    const auto warp = thread.warp();
    const std::uint32_t lane = thread.lane();
    Cell cell = cells.cells[index];
    std::uint32_t next = arrivals.begin[index];
    const std::uint32_t end = arrivals.begin[index + 1];
    while (next != end) {
      const std::uint32_t used = cell.count % cells.capacity;
      if (used == 0) {
        std::uint64_t fresh = 0;
        if (lane == 0) fresh = reinterpret_cast<std::uint64_t>(session.malloc(thread, frame_bytes));
        fresh = warp.shfl_lane(fresh, 0);
        if (fresh == 0) {
          if (lane == 0) thread.atomic(*failures).fetch_add(std::uint64_t{1}, simt::relaxed);
          break;
        }
        if (lane == 0) {
          *frame_at(fresh) = {0, cell.last};
          if (cell.last != 0) frame_at(cell.last)->next = fresh;
        }
        if (cell.last == 0) cell.first = fresh;
        cell.last = fresh;
      }
      const std::uint32_t room = cells.capacity - used;
      std::uint32_t taken = end - next < room ? end - next : room;
      if (taken > simt::warp_size) taken = simt::warp_size;
      if (lane < taken) frame_at(cell.last)->particles()[used + lane] = arrivals.particles[next + lane];
      next += taken;
      cell.count += taken;
    }
    warp.sync();  // all lanes have read the cell
    if (lane == 0) cells.cells[index] = cell;
    detach(session, thread);
  }
};

// Sends leaving particles to their new cells, closes the gaps, and frees the frames behind the last particle. With
// `all` every frame is freed, whatever it holds.
struct ShrinkCellsKernel {
  template <class Thread, class A>
  SIMT_FN void operator()(Thread& thread, A allocator, Cells cells, std::uint32_t step, bool all, Arrivals arrivals,
                          std::uint32_t* arrived) const {
    const std::uint32_t index = cells.mine(thread);
    if (index == Space::stays) return;
    auto&& session = attach(allocator, thread);
    const auto warp = thread.warp();
    Cell cell = cells.cells[index];
    std::uint32_t frames = frames_for(cell.count, cells.capacity);
    cell.count = all ? 0 : keep_stayers(thread, cells, index, step, arrivals, arrived);
    warp.sync();  // all lanes have read the frames that are freed now
    if (thread.lane() == 0) {
      const std::uint32_t kept = frames_for(cell.count, cells.capacity);
      for (; frames != kept && cell.last != 0; --frames) {
        Frame* const frame = frame_at(cell.last);
        cell.last = frame->previous;
        session.free(thread, frame);
      }
      if (cell.last == 0) {
        cell.first = 0;
      } else {
        frame_at(cell.last)->next = 0;
      }
      cells.cells[index] = cell;
    }
    detach(session, thread);
  }

 private:
  // A position in a cell's list. It advances by 32 particles or fewer at a time.
  struct Place {
    Frame* frame;
    std::uint32_t used = 0;

    // Returns the particle `ahead` places after this position, in this frame or the next one.
    SIMT_FN Particle* particle(std::uint32_t ahead, std::uint32_t capacity) const {
      const std::uint32_t place = used + ahead;
      return place < capacity ? frame->particles() + place : frame_at(frame->next)->particles() + (place - capacity);
    }
    SIMT_FN void advance(std::uint32_t particles, std::uint32_t capacity) {
      used += particles;
      if (used < capacity) return;
      used -= capacity;
      frame = frame_at(frame->next);
    }
  };

  // Moves the staying particles to the front of the list, in their order. Returns their number.
  template <class Thread>
  static SIMT_FN std::uint32_t keep_stayers(Thread& thread, const Cells& cells, std::uint32_t index, std::uint32_t step,
                                            const Arrivals& arrivals, std::uint32_t* arrived) {
    const auto warp = thread.warp();
    const std::uint32_t lane = thread.lane();
    const Cell cell = cells.cells[index];
    // A stride has the size of a warp or, if smaller, of a frame, so it reaches into at most one further frame.
    const std::uint32_t stride = cells.capacity < simt::warp_size ? cells.capacity : simt::warp_size;
    Place from{frame_at(cell.first)};
    Place to{frame_at(cell.first)};
    std::uint32_t kept = 0;
    for (std::uint32_t first = 0; first < cell.count; first += stride) {
      const std::uint32_t count = cell.count - first < stride ? cell.count - first : stride;
      Particle particle{};
      bool stays = false;
      if (lane < count) {
        particle = *from.particle(lane, cells.capacity);
        const std::uint32_t target = cells.space.target(index, particle.id, step);
        stays = target == Space::stays;
        if (!stays) depart(thread, particle, target, arrivals, arrived);
      }
      const std::uint32_t stayers = warp.ballot(stays);
      warp.sync();  // all lanes have read before any lane writes
      const std::uint32_t rank = simt::popcount(stayers & ((1u << lane) - 1));
      if (stays) *to.particle(rank, cells.capacity) = particle;
      warp.sync();
      from.advance(count, cells.capacity);
      to.advance(simt::popcount(stayers), cells.capacity);
      kept += simt::popcount(stayers);
    }
    return kept;
  }

  // A particle without a free place is lost. The comparison at the end shows this.
  template <class Thread>
  static SIMT_FN void depart(Thread& thread, const Particle& particle, std::uint32_t target, const Arrivals& arrivals,
                             std::uint32_t* arrived) {
    const std::uint32_t rank = thread.atomic(arrived[target]).fetch_add(1u, simt::relaxed);
    const std::uint32_t place = arrivals.begin[target] + rank;
    if (place < arrivals.begin[target + 1]) arrivals.particles[place] = particle;
  }
};

using ParticleKernels =
    KernelList<BareKernelOn<GrowCellsKernel, Cells, std::uint32_t, Arrivals, std::uint64_t*>,
               BareKernelOn<ShrinkCellsKernel, Cells, std::uint32_t, bool, Arrivals, std::uint32_t*>>;

}  // namespace allocbench::particles
