// Google Benchmark as the measuring loop: one batch of samples is one registration with a fixed number of iterations
// and manual time, the sum of the phases that the device's events measured.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "protocol/event.hpp"

namespace benchmark {
class BenchmarkReporter;
}

namespace allocbench::worker {

// Calls `sample` `count` times; it returns the seconds of one sample. Returns what Google Benchmark measured. An
// exception of a sample ends the batch and leaves this function. `shown` sees the run as well, if there is one.
protocol::Loop run_benchmark_batch(const std::string& name, std::uint32_t count, const std::function<double()>& sample,
                                   benchmark::BenchmarkReporter* shown = nullptr);

}  // namespace allocbench::worker
