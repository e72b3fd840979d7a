// Conformance of the host side: these tests cover buffers, events, properties, kernel attributes, words of 16 bytes and
// bit operations.
#pragma once

#include <array>
#include <deque>

#include "simt/parked.hpp"
#include "tests/simt/conformance.hpp"

namespace simt::conformance {

TEST_P(Conformance, BuffersCarryBytesThereAndBack) {
  Buffer<std::uint64_t> buffer(1000);
  std::vector<std::uint64_t> host(1000);
  for (std::size_t i = 0; i < host.size(); ++i) host[i] = i * i;
  buffer.from_host(stream(), host);
  EXPECT_EQ(buffer.to_host(stream()), host);
  Buffer<std::uint64_t> moved = std::move(buffer);
  EXPECT_EQ(moved.to_host(stream()), host);
  moved.fill_bytes(stream(), 0x11);
  EXPECT_EQ(moved.to_host(stream()), std::vector<std::uint64_t>(1000, 0x1111111111111111u));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(moved.data()) % 256, 0u);
  host.pop_back();
  EXPECT_THROW(moved.from_host(stream(), host), Fault);
  EXPECT_TRUE(Buffer<int>(0).to_host(stream()).empty());
}

TEST_P(Conformance, CopiesOnTheDeviceFollowTheStream) {
  Buffer<std::uint32_t> from(1000);
  Buffer<std::uint32_t> to(1000);
  from.fill_bytes(stream(), 0x22);
  to.fill_bytes(stream(), 0x11);
  copy_on_device(stream(), to.data() + 1, from.data(), 998 * sizeof(std::uint32_t));
  from.fill_bytes(stream(), 0x33);
  std::vector<std::uint32_t> expected(1000, 0x22222222u);
  expected.front() = expected.back() = 0x11111111u;
  EXPECT_EQ(to.to_host(stream()), expected);
}

TEST_P(Conformance, APoolGivesMemoryInTheOrderOfTheStream) {
  StreamPool pool(device());
  void* const block = pool.allocate(stream(), 4096);
  ASSERT_NE(block, nullptr);
  device_fill(stream(), block, 0x22, 4096);
  std::vector<std::uint8_t> host(4096);
  copy_to_host(stream(), host.data(), block, host.size());
  EXPECT_EQ(host, std::vector<std::uint8_t>(4096, 0x22));
  pool.release(stream(), block);
  pool.release(stream(), nullptr);
  stream().synchronize();
  try {
    pool.release(stream(), pool.allocate(stream(), std::size_t{1} << 50));
    FAIL() << "a pebibyte was granted";
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.kind(), FaultKind::out_of_memory) << fault.what();
  }
}

TEST_P(Conformance, ImpossibleAllocationIsOutOfMemory) {
  try {
    device_release(device_allocate(std::size_t{1} << 50));
    FAIL() << "a pebibyte was granted";
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.kind(), FaultKind::out_of_memory) << fault.what();
  }
}

struct Work {
  template <class Thread>
  SIMT_FN void operator()(Thread& thread, std::uint32_t* word) const {
    for (int i = 0; i < 100; ++i) thread.atomic(*word).fetch_add(1u, relaxed);
  }
};

struct NoteGrid {
  std::uint32_t kernel;

  template <class Thread>
  SIMT_FN void operator()(Thread& thread, std::uint32_t* ranks, std::uint32_t* blocks) const {
    ranks[thread.rank_in_grid()] = kernel;
    if (thread.rank_in_grid() == 0) *blocks = thread.block_count();
  }
};

TEST_P(Conformance, LaunchesAtOnceHaveGridsOfTheirOwn) {
  constexpr std::uint32_t kernels = 3;
  constexpr std::uint32_t threads = 64;
  const std::uint32_t blocks_of[kernels] = {1, 7, 4};
  auto ranks = zeros<std::uint32_t>(kernels * 7 * threads);
  auto blocks = zeros<std::uint32_t>(kernels);
  std::deque<Stream> streams;
  std::vector<NoteGrid> notes;
  std::vector<std::uint32_t*> arguments;
  for (std::uint32_t i = 0; i < kernels; ++i) {
    streams.emplace_back(stream().device());
    notes.push_back({i + 1});
    arguments.push_back(ranks.data() + i * 7 * threads);
    arguments.push_back(blocks.data() + i);
  }
  Event before;
  before.record(stream());
  std::vector<std::array<const void*, 3>> pointers;
  for (std::uint32_t i = 0; i < kernels; ++i) pointers.push_back({&notes[i], &arguments[2 * i], &arguments[2 * i + 1]});
  std::vector<KernelLaunch> launches;
  for (std::uint32_t i = 0; i < kernels; ++i) {
    streams[i].wait(before);
    launches.push_back({&streams[i],
                        {.blocks = blocks_of[i], .threads_per_block = threads},
                        kernel_pointer<NoteGrid, std::uint32_t*, std::uint32_t*>(),
                        pointers[i]});
  }
  launch_kernels(launches);
  for (Stream& each : streams) {
    Event done;
    done.record(each);
    stream().wait(done);
    stream().synchronize();
  }
  const std::vector<std::uint32_t> found = ranks.to_host(stream());
  EXPECT_EQ(blocks.to_host(stream()), (std::vector<std::uint32_t>{1, 7, 4}));
  for (std::uint32_t i = 0; i < kernels; ++i) {
    for (std::uint32_t rank = 0; rank < 7 * threads; ++rank) {
      ASSERT_EQ(found[i * 7 * threads + rank], rank < blocks_of[i] * threads ? i + 1 : 0u) << i << " " << rank;
    }
  }
}

TEST_P(Conformance, EventsMeasureTime) {
  auto word = zeros<std::uint32_t>(1);
  Event start;
  Event stop;
  start.record(stream());
  launch(stream(), {4, 64}, Work{}, word.data());
  stop.record(stream());
  stop.synchronize();
  EXPECT_GT(Event::seconds_between(start, stop), 0.0);
  EXPECT_LT(Event::seconds_between(start, stop), 10.0);
}

TEST_P(Conformance, DeviceDescribesItself) {
  const DeviceProperties properties = device().properties();
  EXPECT_FALSE(properties.name.empty());
  EXPECT_FALSE(properties.toolkit.empty());
  EXPECT_GT(properties.sm_count, 0u);
  EXPECT_GT(properties.max_threads_per_sm, 0u);
  EXPECT_GT(properties.memory_bytes, properties.free_memory_bytes / 2);
  const KernelAttributes attributes = kernel_attributes<Work, std::uint32_t*>();
  EXPECT_EQ(attributes.registers > 0, SIMT_CUDA == 1);
}

TEST_P(Conformance, DeviceOrdinalMustExist) {
  EXPECT_THROW(Device{Device::count()}, Fault);
  EXPECT_THROW(Device(-1), Fault);
}

struct BitOperations {
  template <class Thread>
  SIMT_FN void operator()(Thread&, std::uint64_t* output, Word128* words) const {
    output[0] = popcount(std::uint32_t{0xf0f0f0f0u});
    output[1] = popcount(std::uint64_t{0xf0f0f0f0f0f0f0f0u});
    output[2] = count_trailing_zeros(std::uint32_t{0}) * 1000 + count_trailing_zeros(std::uint32_t{0x80000000u});
    output[3] = count_trailing_zeros(std::uint64_t{0}) * 1000 + count_trailing_zeros(std::uint64_t{1} << 40);
    output[4] = count_leading_zeros(std::uint32_t{0}) * 1000 + count_leading_zeros(std::uint32_t{1});
    output[5] = count_leading_zeros(std::uint64_t{0}) * 1000 + count_leading_zeros(std::uint64_t{1} << 40);
    output[6] = multiply_high(std::uint32_t{0x80000000u}, std::uint32_t{6});
    output[7] = multiply_high(std::uint64_t{1} << 63, std::uint64_t{10});
    output[8] = round_up<std::uint64_t>(17, 16);
    Word128 word = load_16_bytes(&words[0]);
    word.words[3] += 1;
    store_16_bytes(&words[1], word);
  }
};

TEST_P(Conformance, BitOperationsAndWideWords) {
  auto words = zeros<Word128>(2);
  words.from_host(stream(), {{{1, 2, 3, 4}}, {{0, 0, 0, 0}}});
  EXPECT_EQ(run<std::uint64_t>({1, 1}, 9, BitOperations{}, words.data()),
            (std::vector<std::uint64_t>{16, 32, 32031, 64040, 32031, 64023, 3, 5, 32}));
  const Word128 copied = words.to_host(stream())[1];
  EXPECT_EQ(copied.words[0], 1u);
  EXPECT_EQ(copied.words[3], 5u);
}

struct ParkedVariables {
  struct Pair {
    std::uint32_t first;
    std::uint32_t second;
  };

  template <class Thread>
  SIMT_FN void operator()(Thread&, std::uint32_t* output) const {
    const Parked<Pair> pair = Pair{3, 4};
    Parked<std::uint32_t> sum = 0;
    SIMT_ROLLED
    for (Parked<std::uint32_t> round = 0; round < pair->second; ++round) sum = sum + round * pair->first;
    output[0] = sum;
    output[1] = ++sum;
  }
};

TEST_P(Conformance, ParkedVariablesHaveTheirValues) {
  EXPECT_EQ(run<std::uint32_t>({1, 1}, 2, ParkedVariables{}), (std::vector<std::uint32_t>{18, 19}));
}

}  // namespace simt::conformance
