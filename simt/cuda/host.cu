#include <nvtx3/nvToolsExt.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "simt/cuda/errors.hpp"
#include "simt/cuda/host.hpp"
#include "simt/cuda/machine_fault.hpp"

namespace simt {
namespace {

// The table in errors.hpp states these values as numbers.
static_assert(cudaErrorMemoryAllocation == 2 && cudaErrorDevicesUnavailable == 46 && cudaErrorNoDevice == 100 &&
              cudaErrorNoKernelImageForDevice == 209 && cudaErrorECCUncorrectable == 214 &&
              cudaErrorNvlinkUncorrectable == 220 && cudaErrorContextIsDestroyed == 709 &&
              cudaErrorSystemNotReady == 802 && cudaErrorMpsClientTerminated == 810 && cudaErrorExternalDevice == 911);

[[noreturn]] void throw_fault(CudaBlame blame, const std::string& text) {
  switch (blame) {
    case CudaBlame::device_memory:
      throw Fault(FaultKind::out_of_memory, text);
    case CudaBlame::set_up:
      throw Fault(FaultKind::environment, text);
    case CudaBlame::machine:
      throw MachineFault(text);
    case CudaBlame::device_code:
      break;
  }
  throw Fault(FaultKind::device_fault, text);
}

std::string with_advice(const std::string& text, const CudaError& error) {
  return *error.advice == '\0' ? text : text + ". " + error.advice;
}

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

}  // namespace

void check_cuda(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  // The runtime also stores an error that it returns, so the next launch check would report the error again.
  static_cast<void>(cudaGetLastError());
  const std::string text =
      std::string(call) + ": " + cudaGetErrorName(status) + " (" + cudaGetErrorString(status) + ")";
  const CudaError known = cuda_error(status);
  throw_fault(known.blame, with_advice(text, known));
}

int Device::count() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaErrorNoDevice) return 0;
  // Without a driver the runtime reports an insufficient driver. The version is 0 in this case. A driver that is too
  // old has another version, and the user should see an error.
  int driver = 0;
  if (status == cudaErrorInsufficientDriver && cudaDriverGetVersion(&driver) == cudaSuccess && driver == 0) return 0;
  check_cuda(status, "cudaGetDeviceCount");
  return count;
}

Device::Device(int ordinal) : ordinal_(ordinal) {
  const int available = count();
  if (available == 0) {
    const std::string text = "no CUDA device is present";
    int driver = 0;  // 0 if no driver is loaded, as on a machine without GPU
    static_cast<void>(cudaDriverGetVersion(&driver));
    throw Fault(FaultKind::environment, driver == 0 ? text : with_advice(text, cuda_error(cudaErrorNoDevice)));
  }
  if (ordinal < 0 || ordinal >= available) {
    throw Fault(FaultKind::environment, "device " + std::to_string(ordinal) +
                                            " does not exist; this machine has devices 0 to " +
                                            std::to_string(available - 1));
  }
  check_cuda(cudaSetDevice(ordinal), "cudaSetDevice");
}

DeviceProperties Device::properties() const {
  cudaDeviceProp native{};
  check_cuda(cudaGetDeviceProperties(&native, ordinal_), "cudaGetDeviceProperties");
  int driver = 0;
  int runtime = 0;
  check_cuda(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  check_cuda(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
  char bus_id[32] = {};
  check_cuda(cudaDeviceGetPCIBusId(bus_id, sizeof bus_id, ordinal_), "cudaDeviceGetPCIBusId");

  DeviceProperties properties;
  properties.name = native.name;
  properties.compute_capability = std::to_string(native.major) + "." + std::to_string(native.minor);
  properties.driver = "CUDA " + version_text(driver);
  properties.toolkit = "CUDA " + version_text(runtime);
  static constexpr char hex[] = "0123456789abcdef";
  for (const char byte : native.uuid.bytes) {
    properties.uuid += hex[static_cast<unsigned char>(byte) >> 4];
    properties.uuid += hex[static_cast<unsigned char>(byte) & 15];
  }
  properties.pci_bus_id = bus_id;
  properties.sm_count = static_cast<std::uint32_t>(native.multiProcessorCount);
  properties.max_threads_per_sm = static_cast<std::uint32_t>(native.maxThreadsPerMultiProcessor);
  properties.memory_bytes = native.totalGlobalMem;
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  check_cuda(cudaMemGetInfo(&free_bytes, &total_bytes), "cudaMemGetInfo");
  properties.free_memory_bytes = free_bytes;
  properties.l2_bytes = static_cast<std::size_t>(native.l2CacheSize);
  return properties;
}

std::size_t Device::set_device_heap_bytes(std::size_t bytes) {
  check_cuda(cudaDeviceSetLimit(cudaLimitMallocHeapSize, bytes), "cudaDeviceSetLimit(cudaLimitMallocHeapSize)");
  std::size_t granted = 0;
  check_cuda(cudaDeviceGetLimit(&granted, cudaLimitMallocHeapSize), "cudaDeviceGetLimit(cudaLimitMallocHeapSize)");
  return granted;
}

void Device::synchronize() {
  Hold::before_wait("the phase waits for the device");
  check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

Stream::Stream(Device& device) : device_(device) { check_cuda(cudaStreamCreate(&stream_), "cudaStreamCreate"); }

// Destructors may run during the unwinding of a fault. CUDA calls may fail then, so their errors are ignored.
Stream::~Stream() { static_cast<void>(cudaStreamDestroy(stream_)); }

void Stream::synchronize() {
  Hold::before_wait("the phase waits for the device");
  check_cuda(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
}

void Stream::wait(const Event& event) {
  check_cuda(cudaStreamWaitEvent(stream_, event.event_, 0), "cudaStreamWaitEvent");
}

Event::Event() { check_cuda(cudaEventCreate(&event_), "cudaEventCreate"); }

Event::~Event() { static_cast<void>(cudaEventDestroy(event_)); }

void Event::record(Stream& stream) { check_cuda(cudaEventRecord(event_, stream.native()), "cudaEventRecord"); }

void Event::synchronize() {
  Hold::before_wait("the phase waits for the device");
  check_cuda(cudaEventSynchronize(event_), "cudaEventSynchronize");
}

double Event::seconds_between(const Event& start, const Event& stop) {
  float milliseconds = 0;
  check_cuda(cudaEventElapsedTime(&milliseconds, start.event_, stop.event_), "cudaEventElapsedTime");
  return milliseconds * 1e-3;
}

void* device_allocate(std::size_t bytes) {
  Hold::before_wait("the phase allocates memory");
  void* memory = nullptr;
  check_cuda(cudaMalloc(&memory, bytes), "cudaMalloc");
  return memory;
}

void device_release(void* memory) noexcept {
  if (memory == nullptr) return;
  Hold::before_wait("the phase allocates memory");
  static_cast<void>(cudaFree(memory));
}

StreamPool::StreamPool(Device& device) {
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = device.ordinal();
  cudaMemPool_t pool = nullptr;
  check_cuda(cudaMemPoolCreate(&pool, &properties), "cudaMemPoolCreate");
  native_ = pool;
  std::uint64_t kept_bytes = ~std::uint64_t{0};
  check_cuda(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept_bytes), "cudaMemPoolSetAttribute");
}

StreamPool::~StreamPool() { static_cast<void>(cudaMemPoolDestroy(static_cast<cudaMemPool_t>(native_))); }

void* StreamPool::allocate(Stream& stream, std::size_t bytes) {
  void* memory = nullptr;
  check_cuda(cudaMallocFromPoolAsync(&memory, bytes, static_cast<cudaMemPool_t>(native_), stream.native()),
             "cudaMallocFromPoolAsync");
  return memory;
}

void StreamPool::release(Stream& stream, void* memory) {
  if (memory != nullptr) check_cuda(cudaFreeAsync(memory, stream.native()), "cudaFreeAsync");
}

void device_fill(Stream& stream, void* memory, unsigned char byte, std::size_t bytes) {
  check_cuda(cudaMemsetAsync(memory, byte, bytes, stream.native()), "cudaMemsetAsync");
}

void copy_to_host(Stream& stream, void* host, const void* device, std::size_t bytes) {
  Hold::before_wait("the phase copies to or from the host");
  check_cuda(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, stream.native()), "cudaMemcpyAsync(to host)");
  stream.synchronize();
}

void copy_to_device(Stream& stream, void* device, const void* host, std::size_t bytes) {
  Hold::before_wait("the phase copies to or from the host");
  check_cuda(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream.native()),
             "cudaMemcpyAsync(to device)");
  stream.synchronize();
}

void copy_on_device(Stream& stream, void* to, const void* from, std::size_t bytes) {
  check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream.native()), "cudaMemcpyAsync(on device)");
}

void launch_kernel(Stream& stream, LaunchShape shape, KernelPointer kernel, std::span<const void* const> arguments) {
  Hold::before_launch(kernel.entry);
  if (shape.shared_bytes > 48 * 1024) {
    check_cuda(cudaFuncSetAttribute(kernel.entry, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(shape.shared_bytes)),
               "cudaFuncSetAttribute(dynamic shared memory)");
  }
  alignas(max_packed_alignment) std::array<std::byte, max_packed_bytes> packed;
  const std::array<const void*, 2> of_family{&kernel.member, packed.data()};
  if (kernel.places != nullptr) {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      std::memcpy(packed.data() + kernel.places[i].offset, arguments[i], kernel.places[i].bytes);
    }
    arguments = of_family;
  }
  // The runtime only reads the arguments.
  auto** const pointers = const_cast<void**>(arguments.data());
  check_cuda(cudaLaunchKernel(kernel.entry, dim3(shape.blocks), dim3(shape.threads_per_block), pointers,
                              shape.shared_bytes, stream.native()),
             "kernel launch");
}

void launch_kernels(std::span<const KernelLaunch> launches) {
  for (const KernelLaunch& each : launches) launch_kernel(*each.stream, each.shape, each.kernel, each.arguments);
}

KernelAttributes kernel_attributes(KernelPointer kernel) {
  Hold::before_use(kernel.entry);
  cudaFuncAttributes attributes{};
  check_cuda(cudaFuncGetAttributes(&attributes, kernel.entry), "cudaFuncGetAttributes");
  return {attributes.numRegs, attributes.sharedSizeBytes, attributes.localSizeBytes};
}

std::uint32_t max_resident_blocks(Stream& stream, KernelPointer kernel, std::uint32_t threads_per_block,
                                  std::size_t shared_bytes) {
  Hold::before_use(kernel.entry);
  int per_sm = 0;
  check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, kernel.entry, static_cast<int>(threads_per_block),
                                                           shared_bytes),
             "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  return static_cast<std::uint32_t>(per_sm) * stream.device().properties().sm_count;
}

Range::Range(std::string_view name) { nvtxRangePushA(std::string(name).c_str()); }
Range::~Range() { nvtxRangePop(); }

}  // namespace simt
