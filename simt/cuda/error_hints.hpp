// What a user can do about errors of the CUDA runtime that are the machine's. Free of CUDA, so that every build tests
// it.
#pragma once

#include <string_view>

namespace simt {

// By the number of a cudaError_t; empty where nobody can say. A sentence or two.
constexpr std::string_view hint_about(int error) {
  switch (error) {
    case 35:  // cudaErrorInsufficientDriver
      return "Update the NVIDIA driver, or build with an older CUDA toolkit (12.4 or newer).";
    case 46:  // cudaErrorDevicesUnavailable
      return "Another process has the GPU for itself, or its compute mode forbids contexts: nvidia-smi shows both. End "
             "that process, choose another GPU with --device, or set the mode with nvidia-smi -c DEFAULT.";
    case 100:  // cudaErrorNoDevice
      return "The driver sees no GPU: nvidia-smi -L lists what it has. Look at CUDA_VISIBLE_DEVICES, and start a "
             "container with its GPUs (docker run --gpus all).";
    case 802:  // cudaErrorSystemNotReady
      return "The NVIDIA fabric manager is not ready, which GPUs behind NVSwitch need: systemctl status "
             "nvidia-fabricmanager. Start it (sudo systemctl start nvidia-fabricmanager; its version must be that of "
             "the "
             "driver) and try again when nvidia-smi -q shows the fabric's state as completed.";
    case 803:  // cudaErrorSystemDriverMismatch
      return "The loaded kernel module and libcuda are of different driver versions, as after an update: reboot, or "
             "load "
             "the new module. In a container, libcuda must be the host's.";
    case 999:  // cudaErrorUnknown
      return "The driver does not say more: look for Xid in dmesg, and whether nvidia-smi works and /dev/nvidia-uvm is "
             "there (sudo nvidia-modprobe -u makes it). A reboot mends most.";
    default:
      return "";
  }
}

}  // namespace simt
