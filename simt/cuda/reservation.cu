#include <cuda.h>

#include <algorithm>
#include <string>

#include "simt/cuda/host.hpp"
#include "simt/reservation.hpp"

namespace simt {
namespace {

// The runtime looks up the driver's functions, because a program that is linked to the driver would not start on a
// machine without one.
template <class Function>
Function* driver_function(const char* name) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
#if CUDART_VERSION >= 12050
  const cudaError_t status = cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &found);
#else
  const cudaError_t status = cudaGetDriverEntryPoint(name, &function, cudaEnableDefault, &found);
#endif
  check_cuda(status, name);
  if (found != cudaDriverEntryPointSuccess) {
    throw Fault(FaultKind::environment, std::string("the driver has no ") + name);
  }
  return reinterpret_cast<Function*>(function);
}

// Checks a call of the driver, whose error numbers are those of the runtime.
void check(CUresult status, const char* call) { check_cuda(static_cast<cudaError_t>(status), call); }

CUmemAllocationProp on_device(int ordinal) {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.location.id = ordinal;
  return properties;
}

CUdeviceptr address(const std::byte* base) { return reinterpret_cast<CUdeviceptr>(base); }

}  // namespace

Reservation::Reservation(Device& device, std::size_t most_bytes) : ordinal_(device.ordinal()) {
  check_cuda(cudaFree(nullptr), "cudaFree");  // makes the device's context
  const CUmemAllocationProp properties = on_device(ordinal_);
  check(driver_function<decltype(cuMemGetAllocationGranularity)>("cuMemGetAllocationGranularity")(
            &granule_, &properties, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED),
        "cuMemGetAllocationGranularity");
  most_bytes_ = granules(most_bytes);
  CUdeviceptr base = 0;
  check(driver_function<decltype(cuMemAddressReserve)>("cuMemAddressReserve")(&base, most_bytes_, 0, 0, 0),
        "cuMemAddressReserve");
  base_ = reinterpret_cast<std::byte*>(base);
}

Reservation::~Reservation() {
  try {
    std::size_t begin = 0;
    for (const std::size_t bytes : pieces_) {
      driver_function<decltype(cuMemUnmap)>("cuMemUnmap")(address(base_ + begin), bytes);
      begin += bytes;
    }
    driver_function<decltype(cuMemAddressFree)>("cuMemAddressFree")(address(base_), most_bytes_);
  } catch (const Fault&) {  // while a fault unwinds, every call fails again
  }
}

void Reservation::grow(std::size_t bytes) {
  require_room(bytes);
  const std::size_t more = granules(bytes) - std::min(granules(bytes), bytes_);
  if (more == 0) return;
  const CUmemAllocationProp properties = on_device(ordinal_);
  CUmemGenericAllocationHandle memory = 0;
  check(driver_function<decltype(cuMemCreate)>("cuMemCreate")(&memory, more, &properties, 0), "cuMemCreate");
  const CUdeviceptr place = address(base_ + bytes_);
  const CUresult mapped = driver_function<decltype(cuMemMap)>("cuMemMap")(place, more, 0, memory, 0);
  // The mapping keeps the memory after the release of the handle.
  check(driver_function<decltype(cuMemRelease)>("cuMemRelease")(memory), "cuMemRelease");
  check(mapped, "cuMemMap");
  CUmemAccessDesc access{};
  access.location = properties.location;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  const CUresult allowed = driver_function<decltype(cuMemSetAccess)>("cuMemSetAccess")(place, more, &access, 1);
  if (allowed != CUDA_SUCCESS) driver_function<decltype(cuMemUnmap)>("cuMemUnmap")(place, more);
  check(allowed, "cuMemSetAccess");
  pieces_.push_back(more);
  bytes_ += more;
}

}  // namespace simt
