// CellReader reads the frame lists of all cells back, untimed, and compares them with their expected contents.
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
  std::uint32_t frames;          // frames in the list, counted up to one too many
  std::uint32_t wrong_links;     // frames whose `previous` is not the frame before
  std::uint32_t wrong_payloads;  // particles whose contents do not match their id
};

class CellReader {
 public:
  // Keeps a reference to `course`, which must outlive this object.
  CellReader(simt::Stream& stream, const Course& course, std::uint32_t capacity);

  void clear();
  // Enqueues the read of all cells.
  void read(const Cell* cells);
  // Returns the frames that were read.
  std::vector<RecordedBlock> blocks(std::uint64_t frame_bytes) const;
  // Returns the first mistake in the cells, or an empty text.
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
