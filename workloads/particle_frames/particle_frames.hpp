// particle_frames keeps the particles of a simulation in lists of frames, one list per cell of space. The particles
// move between cells.
//
// PIConGPU uses its allocator mallocMC (ScatterAlloc or FlatterScatter) in this way.
//
// The particles of a cell are in frames of 4 KiB by default, linked in both directions. All frames but the last are
// full. Each cell has a warp. In a step, particles leave for one of four neighbours. First every cell closes its gaps
// and frees the frames at its end, one at a time (phase `depart`). Then every cell takes in its new particles and
// allocates frames for them (phase `arrive`). Cells change their warps at every launch, so the warp that frees a frame
// usually differs from the warp that allocated it.
//
// Movements depend on the particle and the step alone, so the host knows what every cell must hold at the end. The
// number and contents of the particles in each cell are compared exactly, and their ids by a digest.
#pragma once

#include "workloads/support/callers/requirements.hpp"
#include "workloads/support/contract/workload.hpp"

namespace allocbench {

struct ParticleFrames {
  struct Parameters {
    std::uint32_t width = 64;
    std::uint32_t particles_per_cell = 512;
    std::uint32_t frame_bytes = 4096;
    std::uint32_t steps = 10;
    double moving_share = 0.1;
    std::uint32_t threads_per_block = 128;

    static auto fields() {
      using P = Parameters;
      return std::tuple{
          Field{"width", &P::width, "cells", "cells in a row; space has as many rows, and its borders meet", "assumed"}
              .between(2, 2048),
          Field{"particles_per_cell", &P::particles_per_cell, "particles",
                "mean number in a cell; each particle starts in a cell drawn at random", "assumed"}
              .between(1, 65536),
          Field{"frame_bytes", &P::frame_bytes, "B", "size of a frame: 16 B of links, and 16 B for each particle",
                "assumed: PIConGPU's frames have 256 particles"}
              .between(32, 1 << 20),
          Field{"steps", &P::steps, "steps", "times that particles move", "assumed"}.between(0, 1000),
          Field{"moving_share", &P::moving_share, "", "share of the particles that leave their cell in a step",
                "assumed"}
              .between(0, 1),
          Field{"threads_per_block", &P::threads_per_block, "threads", "threads of a block: a warp per cell", "assumed"}
              .between(simt::warp_size, most_threads_per_block)};
    }

    std::uint32_t cells() const { return width * width; }
  };

  static constexpr WorkloadTraits traits{
      .name = "particle_frames",
      .display_name = "Particle Frames",
      .paper = "none: the frame lists of PIConGPU",
      .summary = "particles in linked frames per cell; frames come and go as particles move between cells",
      .phases = "fill depart arrive free",
      .writes_blocks = true,
      .application = true};

  static std::string unsupported(const Parameters& parameters, const RunSetting& setting);
  static std::unique_ptr<WorkloadRun> open(const Parameters& parameters, const RunSetting& setting,
                                           simt::Stream& stream);
};

}  // namespace allocbench
