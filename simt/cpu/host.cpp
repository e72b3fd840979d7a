#include "simt/cpu/host.hpp"

#include <unistd.h>

#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "simt/cpu/memory.hpp"

namespace simt {
namespace {

// Copies bytes. An empty buffer has a null address, which memcpy() does not allow.
void copy(void* to, const void* from, std::size_t bytes) {
  if (bytes != 0) std::memcpy(to, from, bytes);
}

std::string cpu_model() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  std::string line;
  while (std::getline(cpuinfo, line)) {
    const std::size_t colon = line.find(": ");
    if (line.rfind("model name", 0) == 0 && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown CPU";
}

std::string compiler() {
#if defined(__clang__)
  return "Clang " __clang_version__;
#else
  return "GCC " __VERSION__;
#endif
}

}  // namespace

Device::Device(int ordinal) : Device(ExecutorOptions{}) {
  if (ordinal != 0) {
    throw Fault(FaultKind::environment,
                "device " + std::to_string(ordinal) + " does not exist; the CPU back end has device 0");
  }
}

Device::Device(const ExecutorOptions& options) : executor_(std::make_unique<Executor>(options)) {
  device_memory::set_pattern_seed(options.seed);
}

void Device::restart(const ExecutorOptions& options) {
  executor_->restart(options);
  device_memory::set_pattern_seed(options.seed);
  last_launch_ = {};
}

DeviceProperties Device::properties() const {
  DeviceProperties properties;
  properties.name = cpu_model();
  properties.toolkit = compiler();
  properties.sm_count = executor_->options().sm_count;
  // All warp slots may be on one virtual SM.
  properties.max_threads_per_sm = executor_->resident_blocks(warp_size) * warp_size;
  properties.memory_bytes = device_memory::physical_bytes();
  properties.free_memory_bytes = device_memory::available_bytes();
  const long l2_bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
  properties.l2_bytes = l2_bytes > 0 ? static_cast<std::size_t>(l2_bytes) : 0;
  return properties;
}

std::size_t Device::set_device_heap_bytes(std::size_t bytes) {
  if (!executor_->device_heap().resize(bytes)) {
    throw Fault(FaultKind::environment, "set_device_heap_bytes: the device heap is already in use");
  }
  return executor_->device_heap().bytes();
}

void launch_kernel(Stream& stream, LaunchShape shape, KernelPointer kernel, std::span<const void* const> arguments) {
  const KernelLaunch launch{&stream, shape, kernel, arguments};
  launch_kernels({&launch, 1});
}

void launch_kernels(std::span<const KernelLaunch> launches) {
  Device& device = launches.front().stream->device();
  LaunchShape shape = launches.front().shape;
  shape.blocks = 0;
  std::vector<Grid> grids;
  for (const KernelLaunch& each : launches) {
    if (each.shape.threads_per_block != shape.threads_per_block || each.shape.shared_bytes != shape.shared_bytes) {
      throw Fault(FaultKind::environment, "launch: kernels that run at once need blocks of one shape");
    }
    shape.blocks += each.shape.blocks;
    grids.push_back({each.shape.blocks,
                     {reinterpret_cast<void (*)(Lane&, const void*)>(const_cast<void*>(each.kernel.entry)),
                      each.arguments.data()}});
  }
  device.executor_->run(shape, grids, device.last_launch_);
}

// The CPU executor has no registers or similar resources to report.
KernelAttributes kernel_attributes(KernelPointer) { return {}; }

std::uint32_t max_resident_blocks(Stream& stream, KernelPointer, std::uint32_t threads_per_block, std::size_t) {
  return stream.device().executor().resident_blocks(threads_per_block);
}

void* device_allocate(std::size_t bytes) { return device_memory::allocate(bytes); }

void device_release(void* memory) noexcept { device_memory::release(memory); }

StreamPool::StreamPool(Device&) {}
StreamPool::~StreamPool() = default;

void* StreamPool::allocate(Stream&, std::size_t bytes) { return device_allocate(bytes); }

void StreamPool::release(Stream&, void* memory) { device_release(memory); }

void device_fill(Stream&, void* memory, unsigned char byte, std::size_t bytes) {
  if (bytes == 0) return;
  if (byte != 0 || !device_memory::clear_sparse(memory, bytes)) std::memset(memory, byte, bytes);
}

void copy_to_host(Stream&, void* host, const void* device, std::size_t bytes) { copy(host, device, bytes); }

void copy_to_device(Stream&, void* device, const void* host, std::size_t bytes) { copy(device, host, bytes); }

void copy_on_device(Stream&, void* to, const void* from, std::size_t bytes) { copy(to, from, bytes); }

}  // namespace simt
