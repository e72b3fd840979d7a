#include "workloads/particle_frames/cell_reader.hpp"

namespace allocbench::particles {
namespace {

// Each thread reads one cell. It stops in a list that is longer than expected.
struct ReadCellsKernel {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, const Cell* cells, std::uint32_t count, std::uint32_t capacity,
                          const std::uint32_t* first_frame, CellReading* readings, void** frames) const {
    const std::uint32_t index = thread.rank_in_grid();
    if (index >= count) return;
    const std::uint32_t expected = first_frame[index + 1] - first_frame[index];
    CellReading reading{};
    std::uint32_t left = cells[index].count;
    std::uint64_t previous = 0;
    std::uint64_t address = cells[index].first;
    for (; address != 0 && reading.frames < expected; address = frame_at(address)->next) {
      frames[first_frame[index] + reading.frames] = frame_at(address);
      if (frame_at(address)->previous != previous) ++reading.wrong_links;
      const std::uint32_t in_frame = left < capacity ? left : capacity;
      read(frame_at(address)->particles(), in_frame, reading);
      left -= in_frame;
      previous = address;
      ++reading.frames;
    }
    if (address != 0) ++reading.frames;
    if (cells[index].last != previous) ++reading.wrong_links;
    readings[index] = reading;
  }

 private:
  static SIMT_FN void read(const Particle* particles, std::uint32_t count, CellReading& reading) {
    for (std::uint32_t i = 0; i < count; ++i) {
      const Particle particle = particles[i];
      reading.ids.add(particle.id);
      bool right = true;
      for (std::uint32_t word = 0; word < 3; ++word) {
        right = right && particle.payload[word] == payload_word(particle.id, word);
      }
      if (!right) ++reading.wrong_payloads;
    }
  }
};

}  // namespace

CellReader::CellReader(simt::Stream& stream, const Course& course, std::uint32_t capacity)
    : stream_(stream),
      course_(course),
      capacity_(capacity),
      first_frame_(course.first_frame.size()),
      readings_(course.cells.size()),
      frames_(stream, course.frames_at_the_end()) {
  first_frame_.from_host(stream, course.first_frame);
}

void CellReader::clear() {
  readings_.fill_bytes(stream_, 0);
  frames_.poison();
}

void CellReader::read(const Cell* cells) {
  constexpr std::uint32_t threads = 128;
  const auto count = static_cast<std::uint32_t>(course_.cells.size());
  simt::launch(stream_, {.blocks = (count + threads - 1) / threads, .threads_per_block = threads}, ReadCellsKernel{},
               cells, count, capacity_, static_cast<const std::uint32_t*>(first_frame_.data()), readings_.data(),
               frames_.data());
}

std::vector<RecordedBlock> CellReader::blocks(std::uint64_t frame_bytes) const {
  std::vector<RecordedBlock> blocks = frames_.blocks([&](std::size_t) { return frame_bytes; });
  std::erase_if(blocks, [](const RecordedBlock& block) { return block.address == poisoned_slot; });
  return blocks;
}

std::string CellReader::problem() const {
  const std::vector<CellReading> readings = readings_.to_host(stream_);
  for (std::size_t cell = 0; cell < readings.size(); ++cell) {
    const CellReading& found = readings[cell];
    const std::string name = "cell " + std::to_string(cell);
    const MultisetDigest& expected = course_.cells[cell];
    if (found.ids.count != expected.count) {
      return name + " has " + std::to_string(found.ids.count) + " particles instead of " +
             std::to_string(expected.count);
    }
    if (!(found.ids == expected)) return name + " has other particles than it should";
    if (found.wrong_payloads != 0) {
      return name + " has " + std::to_string(found.wrong_payloads) + " particles with wrong contents";
    }
    const std::uint32_t frames = course_.first_frame[cell + 1] - course_.first_frame[cell];
    if (found.frames != frames) {
      return name + " has " + (found.frames > frames ? "more than " : "fewer than ") + std::to_string(frames) +
             " frames";
    }
    if (found.wrong_links != 0) return name + " has frames that do not name the frame before";
  }
  return {};
}

}  // namespace allocbench::particles
