// The table of this header lists errors of the CUDA runtime and their causes. It has the numbers of driver_types.h, so
// that a build without a CUDA toolkit can test it. An error that is not listed counts as an error of the device code.
#pragma once

#include <array>

namespace simt {

enum class CudaBlame {
  device_code,    // traps and wrong accesses of kernels
  device_memory,  // less memory is free than requested
  set_up,         // this machine cannot run this build
  machine         // a failure of the hardware, the driver or another process, not of the kernel
};

struct CudaError {
  int number = 0;
  CudaBlame blame = CudaBlame::device_code;
  const char* advice = "";  // advice for the user, or an empty text
};

namespace cuda_advice {
inline constexpr const char* newer_driver =
    "Update the NVIDIA driver, or build with an older CUDA toolkit (12.4 or newer).";
inline constexpr const char* see_driver = "See whether `nvidia-smi` works; reload the driver or reboot.";
inline constexpr const char* no_device =
    "The driver sees no GPU: `nvidia-smi -L` lists what it has. Look at CUDA_VISIBLE_DEVICES, and start a container "
    "with its GPUs (docker run --gpus all).";
inline constexpr const char* see_owner =
    "Another process has the GPU for itself, or its compute mode forbids contexts: `nvidia-smi` shows both. End that "
    "process, choose another GPU with --device, or set the mode with `nvidia-smi -c DEFAULT`.";
inline constexpr const char* mismatch =
    "The loaded kernel module and libcuda are of different driver versions, as after an update: reboot, or load the "
    "new module. In a container, libcuda must be the host's.";
inline constexpr const char* unknown =
    "The driver does not say more: look for Xid in dmesg, and whether `nvidia-smi` works and /dev/nvidia-uvm is there "
    "(`sudo nvidia-modprobe -u` makes it). A reboot mends most.";
inline constexpr const char* reset =
    "Reset the GPU (`nvidia-smi --gpu-reset -i N`) or reboot, or use another device; `dmesg | grep Xid` shows what the "
    "driver noticed.";
inline constexpr const char* other_build =
    "This build has no code for this GPU: `cmake --preset release -DCMAKE_CUDA_ARCHITECTURES=90-real`, with 90 for "
    "compute "
    "capability 9.0, then `make build`.";
inline constexpr const char* fabric =
    "The NVIDIA fabric manager is not ready, which GPUs behind NVSwitch need: `systemctl status nvidia-fabricmanager`. "
    "Start it (`sudo systemctl start nvidia-fabricmanager`; its version must be that of the driver) and try again when "
    "`nvidia-smi -q` shows the fabric's state as completed.";
inline constexpr const char* mps =
    "The MPS server refused or ended this client, perhaps because of another client's fault: restart it "
    "(`echo quit | nvidia-cuda-mps-control`), or run without it.";
}  // namespace cuda_advice

// The numbers 201 and 709 (no context, context destroyed) are not listed, because host code of a plug-in causes them if
// it resets the device.
inline constexpr std::array cuda_errors{
    CudaError{2, CudaBlame::device_memory, ""},                    // cudaErrorMemoryAllocation
    CudaError{3, CudaBlame::set_up, cuda_advice::see_driver},      // cudaErrorInitializationError
    CudaError{34, CudaBlame::set_up, cuda_advice::newer_driver},   // cudaErrorStubLibrary
    CudaError{35, CudaBlame::set_up, cuda_advice::newer_driver},   // cudaErrorInsufficientDriver
    CudaError{36, CudaBlame::set_up, cuda_advice::newer_driver},   // cudaErrorCallRequiresNewerDriver
    CudaError{46, CudaBlame::machine, cuda_advice::see_owner},     // cudaErrorDevicesUnavailable
    CudaError{100, CudaBlame::set_up, cuda_advice::no_device},     // cudaErrorNoDevice
    CudaError{101, CudaBlame::set_up, ""},                         // cudaErrorInvalidDevice
    CudaError{102, CudaBlame::set_up, ""},                         // cudaErrorDeviceNotLicensed
    CudaError{103, CudaBlame::set_up, cuda_advice::see_driver},    // cudaErrorSoftwareValidityNotEstablished
    CudaError{127, CudaBlame::set_up, cuda_advice::see_driver},    // cudaErrorStartupFailure
    CudaError{200, CudaBlame::set_up, cuda_advice::other_build},   // cudaErrorInvalidKernelImage
    CudaError{209, CudaBlame::set_up, cuda_advice::other_build},   // cudaErrorNoKernelImageForDevice
    CudaError{214, CudaBlame::machine, cuda_advice::reset},        // cudaErrorECCUncorrectable
    CudaError{216, CudaBlame::machine, cuda_advice::see_owner},    // cudaErrorDeviceAlreadyInUse
    CudaError{218, CudaBlame::set_up, cuda_advice::other_build},   // cudaErrorInvalidPtx
    CudaError{220, CudaBlame::machine, cuda_advice::reset},        // cudaErrorNvlinkUncorrectable
    CudaError{222, CudaBlame::set_up, cuda_advice::newer_driver},  // cudaErrorUnsupportedPtxVersion
    CudaError{226, CudaBlame::machine, cuda_advice::reset},        // cudaErrorContained
    CudaError{802, CudaBlame::machine, cuda_advice::fabric},       // cudaErrorSystemNotReady
    CudaError{803, CudaBlame::set_up, cuda_advice::mismatch},      // cudaErrorSystemDriverMismatch
    CudaError{804, CudaBlame::set_up, cuda_advice::newer_driver},  // cudaErrorCompatNotSupportedOnDevice
    CudaError{805, CudaBlame::machine, cuda_advice::mps},          // cudaErrorMpsConnectionFailed
    CudaError{806, CudaBlame::machine, cuda_advice::mps},          // cudaErrorMpsRpcFailure
    CudaError{807, CudaBlame::machine, cuda_advice::mps},          // cudaErrorMpsServerNotReady
    CudaError{808, CudaBlame::machine, cuda_advice::mps},          // cudaErrorMpsMaxClientsReached
    CudaError{809, CudaBlame::machine, cuda_advice::mps},          // cudaErrorMpsMaxConnectionsReached
    CudaError{810, CudaBlame::machine, cuda_advice::mps},          // cudaErrorMpsClientTerminated
    CudaError{911, CudaBlame::machine, cuda_advice::reset},        // cudaErrorExternalDevice
    CudaError{999, CudaBlame::device_code, cuda_advice::unknown}   // cudaErrorUnknown, which wrong kernels also cause
};

constexpr CudaError cuda_error(int number) {
  for (const CudaError& each : cuda_errors) {
    if (each.number == number) return each;
  }
  return {number};
}

}  // namespace simt
