// This function measures a batch of samples in the loop of Google Benchmark. A batch is one registration with a fixed
// number of iterations. The caller gives the time of each iteration ("manual time"): the sum of the phases, measured
// with the device's events or, for pure host work, with the host's clock.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "protocol/event.hpp"

namespace benchmark {
class BenchmarkReporter;
}

namespace allocbench::worker {

// Calls `sample`, which returns the seconds of one sample, `count` times. Returns Google Benchmark's measurement. An
// exception of a sample ends the batch, and the function throws it again. `shown`, if given, also reports the batch.
protocol::Loop run_benchmark_batch(const std::string& name, std::uint32_t count, const std::function<double()>& sample,
                                   benchmark::BenchmarkReporter* shown = nullptr);

}  // namespace allocbench::worker
