// These tests check which errors are blamed on the tested allocator, and which on the machine.
#include "simt/cuda/machine_fault.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <new>
#include <set>
#include <string>

#include "harness/worker/failure.hpp"
#include "harness/worker/nvml.hpp"
#include "simt/cuda/errors.hpp"

namespace allocbench::worker {
namespace {

using simt::CudaBlame;

TEST(CudaErrors, ThoseOfKernelsAreTheAllocators) {
  // The numbers mean: illegal address, launch timeout, assert, stack error, illegal instruction, misaligned address,
  // address space, program counter, launch failure, invalid context, destroyed context, invalid value, invalid device
  // function, invalid handle.
  for (const int number : {700, 702, 710, 714, 715, 716, 717, 718, 719, 201, 709, 1, 98, 400}) {
    EXPECT_EQ(simt::cuda_error(number).blame, CudaBlame::device_code) << number;
    EXPECT_STREQ(simt::cuda_error(number).advice, "") << number;
  }
}

TEST(CudaErrors, AdviceNamesWhatIsWrongAndWhatToDo) {
  const struct {
    int number;
    const char* names;
    const char* next_step;
  } cases[] = {{35, "driver", "Update the NVIDIA driver"},
               {46, "Another process has the GPU", "--device"},
               {100, "sees no GPU", "CUDA_VISIBLE_DEVICES"},
               {209, "no code for this GPU", "CMAKE_CUDA_ARCHITECTURES"},
               {214, "driver noticed", "--gpu-reset"},
               {802, "fabric manager is not ready", "systemctl start nvidia-fabricmanager"},
               {803, "different driver versions", "reboot"},
               {999, "Xid", "nvidia-modprobe -u"}};
  for (const auto& each : cases) {
    const std::string advice(simt::cuda_error(each.number).advice);
    EXPECT_NE(advice.find(each.names), std::string::npos) << each.number << ": " << advice;
    EXPECT_NE(advice.find(each.next_step), std::string::npos) << each.number << ": " << advice;
  }
}

TEST(CudaErrors, HardwareDriverAndOtherProcessesAreTheMachines) {
  // The numbers mean: device unavailable or in use, ECC, NVLink, contained error, system not ready, errors of the MPS
  // server, external device.
  for (const int number : {46, 216, 214, 220, 226, 802, 805, 806, 807, 808, 809, 810, 911}) {
    EXPECT_EQ(simt::cuda_error(number).blame, CudaBlame::machine) << number;
    EXPECT_STRNE(simt::cuda_error(number).advice, "") << number;
  }
  EXPECT_NE(std::string(simt::cuda_error(214).advice).find("--gpu-reset"), std::string::npos);
  EXPECT_NE(std::string(simt::cuda_error(802).advice).find("nvidia-fabricmanager"), std::string::npos);
}

TEST(CudaErrors, MemoryAndWrongBuildsAreNeither) {
  EXPECT_EQ(simt::cuda_error(2).blame, CudaBlame::device_memory);
  for (const int number : {3, 35, 100, 101, 209, 222, 803}) {
    EXPECT_EQ(simt::cuda_error(number).blame, CudaBlame::set_up) << number;
  }
}

TEST(CudaErrors, EachIsInTheTableOnce) {
  std::set<int> numbers;
  for (const simt::CudaError& each : simt::cuda_errors) EXPECT_TRUE(numbers.insert(each.number).second) << each.number;
}

template <class Exception>
std::optional<CellFailure> failure_of(const Exception& exception) {
  try {
    throw exception;
  } catch (...) {
    const Traits traits{.name = "any", .display_name = "", .paper = "", .summary = ""};
    return current_failure(traits);
  }
}

TEST(Failures, AMachineFaultIsNoResultOfACell) {
  EXPECT_FALSE(failure_of(simt::MachineFault("uncorrectable ECC error")));
  const auto trap = failure_of(simt::Fault(simt::FaultKind::device_fault, "illegal address"));
  ASSERT_TRUE(trap);
  EXPECT_EQ(trap->status(), Status::device_fault);
  EXPECT_TRUE(trap->fatal());
  // A plug-in with code for another GPU only must not stop the run.
  const auto no_code = failure_of(simt::Fault(simt::FaultKind::environment, "no kernel image"));
  ASSERT_TRUE(no_code);
  EXPECT_EQ(no_code->status(), Status::device_fault);
  EXPECT_EQ(failure_of(std::bad_alloc())->status(), Status::oom);
}

std::string complaint_of_nvml(const char* result) {
  setenv("FAKE_NVML_RESULT", result, 1);
  const Nvml nvml("0000:01:00.0");
  try {
    nvml.require_gpu();
    return "";
  } catch (const simt::MachineFault& fault) {
    return fault.what();
  }
}

TEST(Nvml, SaysThatTheGpuIsLost) {
  EXPECT_EQ(complaint_of_nvml("0"), "");
  EXPECT_EQ(complaint_of_nvml("3"), "");  // not supported
  EXPECT_EQ(complaint_of_nvml("15").substr(0, 22), "NVML: the GPU is lost.");
  EXPECT_EQ(complaint_of_nvml("16").substr(0, 26), "NVML: the GPU needs a rese");
  EXPECT_NO_THROW(Nvml("").require_gpu());
}

}  // namespace
}  // namespace allocbench::worker
