#include "harness/worker/backend.hpp"
#include "simt/simt.hpp"

namespace allocbench::worker {
namespace {

simt::ExecutorOptions executor_options(const BackendOptions& options) {
  if (options.device != 0) {
    throw simt::Fault(simt::FaultKind::environment, "device " + std::to_string(options.device) +
                                                        " does not exist; the CPU back end has only device 0");
  }
  simt::ExecutorOptions result;
  result.os_threads = options.os_threads;
  if (options.deterministic_seed) {
    result.mode = simt::ExecutorMode::deterministic;
    result.seed = *options.deterministic_seed;
  }
  if (options.lockstep_seed) {
    result.mode = simt::ExecutorMode::deterministic;
    result.strategy = simt::StrategyKind::lockstep;
    result.seed = *options.lockstep_seed;
  }
  if (options.device_heap_bytes) result.device_heap_bytes = *options.device_heap_bytes;
  return result;
}

class CpuBackend final : public Backend {
 public:
  explicit CpuBackend(const BackendOptions& options)
      : device_(executor_options(options)),
        device_heap_bytes_(executor_options(options).device_heap_bytes),
        stream_(device_) {}

  simt::Stream& stream() override { return stream_; }
  simt::DeviceProperties properties() const override { return device_.properties(); }
  std::size_t device_heap_bytes() const override { return device_heap_bytes_; }

 private:
  simt::Device device_;
  std::size_t device_heap_bytes_;
  simt::Stream stream_;
};

}  // namespace

std::unique_ptr<Backend> open_backend(const BackendOptions& options) { return std::make_unique<CpuBackend>(options); }

std::string pci_bus_id(int) { return ""; }

void open_context(int) {}

void end_at_once() {}  // sanitizers look for leaks at the end

std::string backend_name() { return "cpu"; }

std::string compiler_text() { return ALLOCBENCH_COMPILER_TEXT; }

}  // namespace allocbench::worker
