// These tests check that work enqueued behind a hold starts when the hold is released, and that a call that would wait
// forever ends the hold first.
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <thread>

#include "simt/simt.hpp"

namespace simt {
namespace {

constexpr double patience = 10;  // limit in seconds of a hold that must not end by its limit

struct Mark {
  template <class Thread>
  SIMT_FN void operator()(Thread&, std::uint32_t* word) const {
    *word += 1;
  }
};
// Unloaded is a kernel of its own, so that no other test loads it.
struct Unloaded {
  template <class Thread>
  SIMT_FN void operator()(Thread&, std::uint32_t* word) const {
    *word += 2;
  }
};

class HeldStream : public testing::Test {
 protected:
  void SetUp() override {
    if (Device::count() == 0) GTEST_SKIP() << "no CUDA device";
    device.emplace(0);
    stream.emplace(*device);
    word = Buffer<std::uint32_t>(1);
    word.fill_bytes(*stream, 0);
    static_cast<void>(kernel_attributes<Mark, std::uint32_t*>());
    stream->synchronize();
  }
  void mark(int times = 1) {
    for (int i = 0; i < times; ++i) launch(*stream, {1, 1}, Mark{}, word.data());
  }
  // Runs `work` during a hold. Returns why the hold ended early, or an empty text.
  template <class Work>
  std::string held(Work&& work, double limit = patience) {
    stream->hold(limit);
    work();
    stream->release();
    stream->synchronize();
    return stream->not_held();
  }

  std::optional<Device> device;
  std::optional<Stream> stream;
  Buffer<std::uint32_t> word;
};

TEST_F(HeldStream, NothingRunsBeforeTheRelease) {
  Event done;
  stream->hold(patience);
  mark();
  done.record(*stream);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(cudaStreamQuery(stream->native()), cudaErrorNotReady);
  stream->release();
  done.synchronize();
  EXPECT_EQ(stream->not_held(), "");
  EXPECT_EQ(word.to_host(*stream).front(), 1u);
}

TEST_F(HeldStream, ComesAgain) {
  for (int i = 0; i < 100; ++i) EXPECT_EQ(held([&] { mark(); }), "");
  EXPECT_EQ(word.to_host(*stream).front(), 100u);
}

TEST_F(HeldStream, EndsBeforeWhateverWaits) {
  EXPECT_EQ(held([&] { stream->synchronize(); }), "the phase waits for the device");
  EXPECT_EQ(held([&] { word.to_host(*stream); }), "the phase copies to or from the host");
  EXPECT_EQ(held([&] { Buffer<int> another(10); }), "the phase allocates memory");
  EXPECT_EQ(held([&] { mark(); }), "") << "the next hold is not affected";
}

TEST_F(HeldStream, EndsBeforeAKernelIsLoaded) {
  const auto once = [&] { launch(*stream, {1, 1}, Unloaded{}, word.data()); };
  EXPECT_EQ(held(once), "a kernel is loaded");
  EXPECT_EQ(held(once), "");
}

TEST_F(HeldStream, EndsBeforeTheQueueIsFull) {
  EXPECT_EQ(held([&] { mark(256); }), "");
  EXPECT_EQ(held([&] { mark(5000); }), "more launches than a queue takes");
  EXPECT_EQ(word.to_host(*stream).front(), 5256u);
}

TEST_F(HeldStream, EndsByItsLimit) {
  EXPECT_EQ(held([&] { std::this_thread::sleep_for(std::chrono::milliseconds(50)); }, 0.005),
            "the host took longer than the limit of a hold");
}

}  // namespace
}  // namespace simt
