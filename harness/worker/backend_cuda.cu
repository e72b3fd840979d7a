#include <unistd.h>

#include <cstdio>

#include "harness/worker/backend.hpp"
#include "simt/simt.hpp"

namespace allocbench::worker {
namespace {

class CudaBackend final : public Backend {
 public:
  explicit CudaBackend(const BackendOptions& options)
      : device_(options.device), device_heap_bytes_(set_heap(device_, options)), stream_(device_) {}

  simt::Stream& stream() override { return stream_; }
  simt::DeviceProperties properties() const override { return device_.properties(); }
  std::size_t device_heap_bytes() const override { return device_heap_bytes_; }

 private:
  // The size of the device heap can only be set before the first launch of a kernel that uses the heap. The loading of
  // a module may count as a launch. So the constructor sets the size right after it opens the device.
  static std::size_t set_heap(simt::Device& device, const BackendOptions& options) {
    if (options.device_heap_bytes) return device.set_device_heap_bytes(*options.device_heap_bytes);
    std::size_t bytes = 0;
    simt::check_cuda(cudaDeviceGetLimit(&bytes, cudaLimitMallocHeapSize),
                     "cudaDeviceGetLimit(cudaLimitMallocHeapSize)");
    return bytes;
  }

  simt::Device device_;
  std::size_t device_heap_bytes_;
  simt::Stream stream_;
};

}  // namespace

std::unique_ptr<Backend> open_backend(const BackendOptions& options) { return std::make_unique<CudaBackend>(options); }

std::string pci_bus_id(int device) {
  char id[32] = {};
  if (cudaDeviceGetPCIBusId(id, sizeof id, device) == cudaSuccess) return id;
  static_cast<void>(cudaGetLastError());
  return "";
}

// Creates only the context, because the size of the device heap must be set before any module is loaded.
void open_context(int device) {
  if (cudaSetDevice(device) != cudaSuccess) static_cast<void>(cudaGetLastError());
}

void end_at_once() {
  std::fflush(nullptr);
  _exit(0);
}

std::string backend_name() { return "cuda"; }

std::string compiler_text() {
  return "nvcc " + std::to_string(__CUDACC_VER_MAJOR__) + "." + std::to_string(__CUDACC_VER_MINOR__) + "." +
         std::to_string(__CUDACC_VER_BUILD__) + ", " ALLOCBENCH_BUILD_TEXT;
}

}  // namespace allocbench::worker
