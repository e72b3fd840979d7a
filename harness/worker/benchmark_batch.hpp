// Google Benchmark as the measuring loop. One batch of samples is one registration with a fixed number of iterations
// and manual time: the sum of the phases, measured with the device's events.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "protocol/event.hpp"

namespace benchmark {
class BenchmarkReporter;
}

namespace allocbench::worker {

// Calls `sample` `count` times, which returns the seconds of one sample. Returns Google Benchmark's measurement. An
// exception of a sample ends the batch and is passed on. `shown` also gets the run, if there is one.
protocol::Loop run_benchmark_batch(const std::string& name, std::uint32_t count, const std::function<double()>& sample,
                                   benchmark::BenchmarkReporter* shown = nullptr);

}  // namespace allocbench::worker
