// The numbers are those of the CUDA runtime's documentation; simt/cuda/host.cu asserts them where CUDA is.
#include "simt/cuda/error_hints.hpp"

#include <gtest/gtest.h>

#include <string>

namespace simt {
namespace {

TEST(ErrorHints, NameWhatIsWrongAndWhatToDo) {
  const struct {
    int error;
    const char* names;
    const char* next_step;
  } cases[] = {{35, "driver", "Update the NVIDIA driver"},
               {46, "Another process has the GPU", "--device"},
               {100, "sees no GPU", "CUDA_VISIBLE_DEVICES"},
               {802, "fabric manager is not ready", "systemctl start nvidia-fabricmanager"},
               {803, "different driver versions", "reboot"},
               {999, "Xid", "nvidia-modprobe -u"}};
  for (const auto& each : cases) {
    const std::string hint(hint_about(each.error));
    EXPECT_NE(hint.find(each.names), std::string::npos) << each.error << ": " << hint;
    EXPECT_NE(hint.find(each.next_step), std::string::npos) << each.error << ": " << hint;
  }
}

TEST(ErrorHints, AreSilentAboutTheAllocatorsFaults) {
  for (const int error : {0, 2, 700, 716, 719}) EXPECT_EQ(hint_about(error), "") << error;
}

}  // namespace
}  // namespace simt
