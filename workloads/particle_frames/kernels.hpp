// The kernels of particle_frames that call the allocator: cells that grow, and cells that shrink. A warp per cell; its
// first lane allocates and frees.
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
  std::uint32_t capacity;  // particles of a frame
  std::uint32_t turn;

  // The cell of the calling warp; Space::stays where it has none.
  template <class Thread>
  SIMT_FN std::uint32_t mine(Thread& thread) const {
    const std::uint32_t warp = thread.rank_in_grid() / simt::warp_size;
    if (warp >= space.cells()) return Space::stays;
    return static_cast<std::uint32_t>((std::uint64_t{warp} + turn) % space.cells());
  }
};

// Adds the arrived particles, frame by frame. A null ends this; the remaining particles are lost and counted as one
// failure.
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
    warp.sync();  // all have read the cell
    if (lane == 0) cells.cells[index] = cell;
    detach(session, thread);
  }
};

// Sends particles on their way, closes the gaps that they leave, and frees the frames behind the last particle. With
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
    warp.sync();  // all have read the frames that go now
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
  // A place in a cell's list that moves on 32 particles or fewer at a time.
  struct Place {
    Frame* frame;
    std::uint32_t used = 0;

    // The particle `ahead` places further on, in this frame or the next one.
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

  // How many particles stay; they move to the front of the list in their order.
  template <class Thread>
  static SIMT_FN std::uint32_t keep_stayers(Thread& thread, const Cells& cells, std::uint32_t index, std::uint32_t step,
                                            const Arrivals& arrivals, std::uint32_t* arrived) {
    const auto warp = thread.warp();
    const std::uint32_t lane = thread.lane();
    const Cell cell = cells.cells[index];
    // Steps of a whole warp, or of a whole frame where that is smaller, reach into one further frame at most.
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
      warp.sync();  // all have read before anyone writes
      const std::uint32_t rank = simt::popcount(stayers & ((1u << lane) - 1));
      if (stays) *to.particle(rank, cells.capacity) = particle;
      warp.sync();
      from.advance(count, cells.capacity);
      to.advance(simt::popcount(stayers), cells.capacity);
      kept += simt::popcount(stayers);
    }
    return kept;
  }

  // A particle for which no place is left is lost, which the comparison at the end shows.
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
