#include "harness/worker/benchmark_batch.hpp"

#include <benchmark/benchmark.h>

#include <exception>

namespace allocbench::worker {
namespace {

class SilentReporter final : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>&) override {}
};

}  // namespace

void run_benchmark_batch(const std::string& name, std::uint32_t count, const std::function<double()>& sample,
                         benchmark::BenchmarkReporter* reporter) {
  std::exception_ptr failure;
  const auto loop = [&](benchmark::State& state) {
    // Version 1.7 aborts the process when its loop is left early or by an exception. So the loop always completes, and
    // after a failure it runs empty.
    for (auto _ : state) {
      double seconds = 0;
      if (!failure) {
        try {
          seconds = sample();
        } catch (...) {
          failure = std::current_exception();
        }
      }
      state.SetIterationTime(seconds);
    }
    if (failure) state.SkipWithError("a sample failed");
  };
  benchmark::RegisterBenchmark(name.c_str(), loop)->Iterations(count)->UseManualTime()->Unit(benchmark::kMicrosecond);
  SilentReporter silent;
  benchmark::RunSpecifiedBenchmarks(reporter != nullptr ? reporter : &silent, "all");
  benchmark::ClearRegisteredBenchmarks();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace allocbench::worker
