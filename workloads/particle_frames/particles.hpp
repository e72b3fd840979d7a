// This file has particles, cells and the rules by which particles move. Host and device share them.
#pragma once

#include <cstdint>

#include "simt/common.hpp"
#include "workloads/support/random/mix.hpp"

namespace allocbench::particles {

struct Particle {
  std::uint32_t id;
  std::uint32_t payload[3];
};

SIMT_HOST_FN std::uint32_t payload_word(std::uint32_t id, std::uint32_t word) { return mix32(id * 3 + word); }

// The space is a square of cells whose opposite borders meet.
struct Space {
  std::uint32_t width;
  std::uint32_t moving;  // a particle leaves its cell if 24 bits of its hash are below this number

  static constexpr std::uint32_t stays = 0xffffffffu;

  SIMT_HOST_FN std::uint32_t cells() const { return width * width; }
  // Returns the cell to which the particle goes in this step, or `stays`.
  SIMT_HOST_FN std::uint32_t target(std::uint32_t cell, std::uint32_t id, std::uint32_t step) const {
    const std::uint32_t hash = mix32(mix32(id) + step);
    if ((hash & 0xffffffu) >= moving) return stays;
    std::uint32_t x = cell % width;
    std::uint32_t y = cell / width;
    const std::uint32_t direction = hash >> 30;
    if (direction == 0) x = x + 1 == width ? 0 : x + 1;
    if (direction == 1) x = x == 0 ? width - 1 : x - 1;
    if (direction == 2) y = y + 1 == width ? 0 : y + 1;
    if (direction == 3) y = y == 0 ? width - 1 : y - 1;
    return y * width + x;
  }
};

// The header of a frame in a block of the allocator. The particles follow it.
struct Frame {
  std::uint64_t next;
  std::uint64_t previous;

  SIMT_HOST_FN Particle* particles() { return reinterpret_cast<Particle*>(this + 1); }
};
SIMT_HOST_FN Frame* frame_at(std::uint64_t address) { return reinterpret_cast<Frame*>(address); }
SIMT_HOST_FN std::uint64_t address_of(const Frame* frame) { return reinterpret_cast<std::uint64_t>(frame); }

// The list of frames of a cell. All frames but the last are full. A cell whose bytes are all zero is empty.
struct Cell {
  std::uint64_t first;
  std::uint64_t last;
  std::uint32_t count;  // number of particles
  std::uint32_t unused;
};

// The moving particles. Those for cell c are at begin[c] to begin[c + 1] - 1.
struct Arrivals {
  Particle* particles;
  const std::uint32_t* begin;
};

SIMT_HOST_FN std::uint32_t frames_for(std::uint32_t particles, std::uint32_t capacity) {
  return (particles + capacity - 1) / capacity;
}

}  // namespace allocbench::particles
