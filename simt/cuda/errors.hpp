// Whose fault an error of the CUDA runtime is. One table, by the numbers of driver_types.h, so that a build without a
// CUDA toolkit tests it. An error that it does not have counts as that of the code that ran on the device.
#pragma once

#include <array>

namespace simt {

enum class CudaBlame {
  device_code,    // traps and wrong accesses of kernels
  device_memory,  // there is not as much as was asked for
  set_up,         // this machine cannot run this build, or a plug-in with other code
  machine         // hardware, driver or another process failed, whatever the kernel did
};

struct CudaError {
  int number = 0;
  CudaBlame blame = CudaBlame::device_code;
  const char* advice = "";  // a sentence, or nothing
};

namespace cuda_advice {
inline constexpr const char* install_driver = "Install a driver that is as new as the CUDA toolkit of this build.";
inline constexpr const char* see_driver = "See whether `nvidia-smi` works; reload the driver or reboot.";
inline constexpr const char* see_owner =
    "Another process may have the device for itself, or its compute mode forbids this one: `nvidia-smi` shows both. "
    "Wait, or use another device.";
inline constexpr const char* reset =
    "Reset the GPU (`nvidia-smi --gpu-reset -i N`) or reboot, or use another device; `dmesg | grep Xid` shows what the "
    "driver noticed.";
inline constexpr const char* other_build =
    "This build has no code for this GPU: build with CMAKE_CUDA_ARCHITECTURES of its compute capability (90 for 9.0).";
inline constexpr const char* fabric =
    "The driver's services are not ready: on machines with NVSwitch start the fabric manager (`systemctl start "
    "nvidia-fabricmanager`).";
inline constexpr const char* mps =
    "The MPS server refused or ended this client, perhaps because of another client's fault: restart it "
    "(`echo quit | nvidia-cuda-mps-control`), or run without it.";
}  // namespace cuda_advice

// 201 and 709 (no context, context destroyed) are missing: host code of a plug-in that resets the device causes them.
inline constexpr std::array cuda_errors{
    CudaError{2, CudaBlame::device_memory, ""},                      // cudaErrorMemoryAllocation
    CudaError{3, CudaBlame::set_up, cuda_advice::see_driver},        // cudaErrorInitializationError
    CudaError{34, CudaBlame::set_up, cuda_advice::install_driver},   // cudaErrorStubLibrary
    CudaError{35, CudaBlame::set_up, cuda_advice::install_driver},   // cudaErrorInsufficientDriver
    CudaError{36, CudaBlame::set_up, cuda_advice::install_driver},   // cudaErrorCallRequiresNewerDriver
    CudaError{46, CudaBlame::machine, cuda_advice::see_owner},       // cudaErrorDevicesUnavailable
    CudaError{100, CudaBlame::set_up, cuda_advice::see_driver},      // cudaErrorNoDevice
    CudaError{101, CudaBlame::set_up, ""},                           // cudaErrorInvalidDevice
    CudaError{102, CudaBlame::set_up, ""},                           // cudaErrorDeviceNotLicensed
    CudaError{103, CudaBlame::set_up, cuda_advice::see_driver},      // cudaErrorSoftwareValidityNotEstablished
    CudaError{127, CudaBlame::set_up, cuda_advice::see_driver},      // cudaErrorStartupFailure
    CudaError{200, CudaBlame::set_up, cuda_advice::other_build},     // cudaErrorInvalidKernelImage
    CudaError{209, CudaBlame::set_up, cuda_advice::other_build},     // cudaErrorNoKernelImageForDevice
    CudaError{214, CudaBlame::machine, cuda_advice::reset},          // cudaErrorECCUncorrectable
    CudaError{216, CudaBlame::machine, cuda_advice::see_owner},      // cudaErrorDeviceAlreadyInUse
    CudaError{218, CudaBlame::set_up, cuda_advice::other_build},     // cudaErrorInvalidPtx
    CudaError{220, CudaBlame::machine, cuda_advice::reset},          // cudaErrorNvlinkUncorrectable
    CudaError{222, CudaBlame::set_up, cuda_advice::install_driver},  // cudaErrorUnsupportedPtxVersion
    CudaError{226, CudaBlame::machine, cuda_advice::reset},          // cudaErrorContained
    CudaError{802, CudaBlame::machine, cuda_advice::fabric},         // cudaErrorSystemNotReady
    CudaError{803, CudaBlame::set_up, cuda_advice::see_driver},      // cudaErrorSystemDriverMismatch
    CudaError{804, CudaBlame::set_up, cuda_advice::install_driver},  // cudaErrorCompatNotSupportedOnDevice
    CudaError{805, CudaBlame::machine, cuda_advice::mps},            // cudaErrorMpsConnectionFailed
    CudaError{806, CudaBlame::machine, cuda_advice::mps},            // cudaErrorMpsRpcFailure
    CudaError{807, CudaBlame::machine, cuda_advice::mps},            // cudaErrorMpsServerNotReady
    CudaError{808, CudaBlame::machine, cuda_advice::mps},            // cudaErrorMpsMaxClientsReached
    CudaError{809, CudaBlame::machine, cuda_advice::mps},            // cudaErrorMpsMaxConnectionsReached
    CudaError{810, CudaBlame::machine, cuda_advice::mps},            // cudaErrorMpsClientTerminated
    CudaError{911, CudaBlame::machine, cuda_advice::reset}           // cudaErrorExternalDevice
};

constexpr CudaError cuda_error(int number) {
  for (const CudaError& each : cuda_errors) {
    if (each.number == number) return each;
  }
  return {number};
}

}  // namespace simt
