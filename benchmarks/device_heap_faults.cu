// Tests whether free() of the CUDA device heap can make a launch fail. The program is plain CUDA without the suite. Its
// malloc and free calls are like those of the allocator fdgmalloc.
//
//   device_heap_faults [SECONDS] [LANE]
//
// In one kernel, 12,500 warps allocate 256, 8,192 and 1,024 bytes each. The next kernel frees every block once. LANE
// selects the lane that frees the blocks of its warp. A LANE of 0 to 7 is the number of this lane. LANE 8 selects the
// lane whose number is the warp's number modulo 8. Without LANE, eight lanes clear their bits in the warp's mask, and
// the last one frees. Between the kernels the host checks that no block is null and that no two blocks overlap. The
// program repeats both kernels until SECONDS (10 by default) are over or a launch fails (docs/findings.md).
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

namespace {

constexpr std::uint32_t warps = 12'500;
constexpr std::uint32_t lanes = 8;
constexpr std::uint32_t all_lanes = (1u << lanes) - 1;
constexpr std::uint32_t threads_per_block = 256;
constexpr std::uint32_t thread_blocks = (warps * 32 + threads_per_block - 1) / threads_per_block;

constexpr std::uint32_t last_to_come = 9;
constexpr std::size_t sizes[] = {256, 8192, 1024};

struct Warp {
  void* blocks[3];
  std::uint32_t mask;  // lanes that have not finished yet
};

__global__ void take(Warp* all) {
  const std::uint32_t number = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const std::uint32_t lane = threadIdx.x % 32;
  if (number >= warps || lane >= lanes) return;
  if (lane == lanes - 1) {
    Warp& warp = all[number];
    warp.blocks[0] = malloc(256);
    warp.blocks[1] = malloc(8192);
    warp.blocks[2] = malloc(1024);
    warp.mask = all_lanes;
  }
  __syncwarp(all_lanes);
}

__global__ void give(Warp* all, std::uint32_t chosen) {
  const std::uint32_t number = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const std::uint32_t lane = threadIdx.x % 32;
  if (number >= warps || lane >= lanes) return;
  Warp& warp = all[number];
  const bool last = atomicAnd(&warp.mask, ~(1u << lane)) == 1u << lane;
  if (chosen == last_to_come ? last : lane == (chosen == lanes ? number % lanes : chosen)) {
    free(warp.blocks[1]);
    free(warp.blocks[2]);
    free(warp.blocks[0]);
  }
  __syncwarp(all_lanes);
}

void require(cudaError_t error, const char* what, unsigned round) {
  if (error == cudaSuccess) return;
  std::printf("round %u: %s: %s\n", round, what, cudaGetErrorName(error));
  std::exit(1);
}

// If a block is null or overlaps another one, reports the first mistake and ends the program.
void check_blocks(const Warp* on_device, unsigned round) {
  std::vector<Warp> all(warps);
  require(cudaMemcpy(all.data(), on_device, warps * sizeof(Warp), cudaMemcpyDeviceToHost), "cudaMemcpy", round);
  std::vector<std::pair<std::uintptr_t, std::size_t>> blocks;
  for (const Warp& warp : all) {
    for (int i = 0; i < 3; ++i) blocks.emplace_back(reinterpret_cast<std::uintptr_t>(warp.blocks[i]), sizes[i]);
  }
  std::sort(blocks.begin(), blocks.end());
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const auto [begin, bytes] = blocks[i];
    if (begin == 0) {
      std::printf("round %u: malloc: null\n", round);
    } else if (i != 0 && blocks[i - 1].first + blocks[i - 1].second > begin) {
      std::printf("round %u: malloc: %zu bytes at %#zx overlap %zu at %#zx\n", round, bytes, begin,
                  blocks[i - 1].second, blocks[i - 1].first);
    } else {
      continue;
    }
    std::exit(1);
  }
}

}  // namespace

int main(int count, char** words) {
  const double seconds = count > 1 ? std::atof(words[1]) : 10;
  const std::uint32_t chosen = count > 2 ? static_cast<std::uint32_t>(std::atoi(words[2])) : last_to_come;
  require(cudaDeviceSetLimit(cudaLimitMallocHeapSize, std::size_t{1} << 30), "the size of the heap", 0);
  Warp* all = nullptr;
  require(cudaMalloc(&all, warps * sizeof(Warp)), "cudaMalloc", 0);
  const auto start = std::chrono::steady_clock::now();
  unsigned round = 0;
  do {
    ++round;
    take<<<thread_blocks, threads_per_block>>>(all);
    require(cudaDeviceSynchronize(), "malloc", round);
    check_blocks(all, round);
    give<<<thread_blocks, threads_per_block>>>(all, chosen);
    require(cudaDeviceSynchronize(), "free", round);
  } while (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() < seconds);
  std::printf("%u rounds without a fault\n", round);
  return 0;
}
