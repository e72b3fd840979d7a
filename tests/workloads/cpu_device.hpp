// A CPU device with a stream, scheduled from a fixed seed so that every test is replayable.
#pragma once

#include "simt/simt.hpp"

namespace allocbench::test {

struct CpuDevice {
  static simt::ExecutorOptions options() {
    simt::ExecutorOptions result;
    result.mode = simt::ExecutorMode::deterministic;
    result.seed = 7;
    return result;
  }
  simt::Device device{options()};
  simt::Stream stream{device};
};

}  // namespace allocbench::test
