#include "harness/worker/benchmark_batch.hpp"

#include <benchmark/benchmark.h>

#include <exception>

namespace allocbench::worker {
namespace {

// Returns whether the run failed. The member with this information has a different name in Google Benchmark 1.8 and
// later.
template <class Run>
bool has_failed(const Run& run) {
  if constexpr (requires { run.error_occurred; }) {
    return run.error_occurred;
  } else {
    return static_cast<int>(run.skipped) != 0;
  }
}

class LoopReporter final : public benchmark::BenchmarkReporter {
 public:
  explicit LoopReporter(benchmark::BenchmarkReporter* shown) : shown_(shown) {}
  bool ReportContext(const Context& context) override { return shown_ == nullptr || shown_->ReportContext(context); }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.run_type != Run::RT_Iteration || has_failed(run)) continue;
      loop_.iterations += static_cast<std::uint64_t>(run.iterations);
      seconds_ += run.real_accumulated_time;
    }
    if (shown_ != nullptr) shown_->ReportRuns(runs);
  }
  void Finalize() override {
    if (shown_ != nullptr) shown_->Finalize();
  }

  protocol::Loop loop() const {
    protocol::Loop result = loop_;
    if (result.iterations != 0) result.mean_seconds = seconds_ / static_cast<double>(result.iterations);
    return result;
  }

 private:
  benchmark::BenchmarkReporter* shown_;
  protocol::Loop loop_;
  double seconds_ = 0;
};

}  // namespace

protocol::Loop run_benchmark_batch(const std::string& name, std::uint32_t count, const std::function<double()>& sample,
                                   benchmark::BenchmarkReporter* shown) {
  std::exception_ptr failure;
  const auto loop = [&](benchmark::State& state) {
    while (state.KeepRunning()) {
      try {
        state.SetIterationTime(sample());
      } catch (...) {
        failure = std::current_exception();
        state.SkipWithError("a sample failed");  // ends the loop
      }
    }
  };
  benchmark::RegisterBenchmark(name.c_str(), loop)->Iterations(count)->UseManualTime()->Unit(benchmark::kMicrosecond);
  LoopReporter reporter(shown);
  benchmark::RunSpecifiedBenchmarks(&reporter, "all");
  benchmark::ClearRegisteredBenchmarks();
  if (failure) std::rethrow_exception(failure);
  return reporter.loop();
}

}  // namespace allocbench::worker
