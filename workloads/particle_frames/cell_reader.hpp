// Reads back the frame lists of all cells, untimed, to compare them with their expected contents.
#pragma once

#include <string>
#include <vector>

#include "simt/simt.hpp"
#include "workloads/particle_frames/course.hpp"
#include "workloads/support/verification/recorded_pointers.hpp"

namespace allocbench::particles {

// The contents of a cell.
struct CellReading {
  MultisetDigest ids;
  std::uint32_t frames;          // in the list, one too many at most
  std::uint32_t wrong_links;     // frames whose link back does not name the frame before
  std::uint32_t wrong_payloads;  // particles whose contents are not those of their id
};

class CellReader {
 public:
  // `course` must outlive it.
  CellReader(simt::Stream& stream, const Course& course, std::uint32_t capacity);

  void clear();
  // Enqueued.
  void read(const Cell* cells);
  // The frames that were read.
  std::vector<RecordedBlock> blocks(std::uint64_t frame_bytes) const;
  // The mistakes in the cells. Empty if there are none.
  std::string problem() const;

 private:
  simt::Stream& stream_;
  const Course& course_;
  std::uint32_t capacity_;
  simt::Buffer<std::uint32_t> first_frame_;
  simt::Buffer<CellReading> readings_;
  RecordedPointers frames_;
};

}  // namespace allocbench::particles
