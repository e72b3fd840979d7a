// ParallelStreams holds additional streams of a workload, for kernels that run at once.
#pragma once

#include <deque>

#include "simt/simt.hpp"

namespace allocbench {

class ParallelStreams {
 public:
  ParallelStreams(simt::Device& device, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) parts_.emplace_back(device);
  }

  simt::Stream& operator[](std::size_t i) { return parts_[i].stream; }
  // Makes the first `count` streams wait for the work on `stream`.
  void fork(simt::Stream& stream, std::size_t count) {
    forked_.record(stream);
    for (std::size_t i = 0; i < count; ++i) parts_[i].stream.wait(forked_);
  }
  // Makes `stream` wait for these streams.
  void join(simt::Stream& stream, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      parts_[i].done.record(parts_[i].stream);
      stream.wait(parts_[i].done);
    }
  }

 private:
  struct Part {
    explicit Part(simt::Device& device) : stream(device) {}
    simt::Stream stream;
    simt::Event done;
  };
  std::deque<Part> parts_;  // stored in a deque, because the streams must not move
  simt::Event forked_;
};

}  // namespace allocbench
