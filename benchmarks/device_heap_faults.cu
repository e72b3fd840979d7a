// Does free() of the CUDA device heap end a launch? Plain CUDA, nothing of the suite: the calls that fdgmalloc makes.
//
//   device_heap_faults [SECONDS]
//
// 12,500 warps take 256, 8,192 and 1,024 bytes each in one kernel; in the next, the last of eight lanes to clear its
// bit of the warp's mask frees them. Again and again until the time is over or a launch fails (docs/findings.md).
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

constexpr std::uint32_t warps = 12'500;
constexpr std::uint32_t lanes = 8;
constexpr std::uint32_t all_lanes = (1u << lanes) - 1;
constexpr std::uint32_t threads_per_block = 256;
constexpr std::uint32_t thread_blocks = (warps * 32 + threads_per_block - 1) / threads_per_block;

struct Warp {
  void* blocks[3];
  std::uint32_t mask;  // lanes that have not given up their blocks
};

__global__ void take(Warp* all, unsigned long long* nulls) {
  const std::uint32_t number = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const std::uint32_t lane = threadIdx.x % 32;
  if (number >= warps || lane >= lanes) return;
  if (lane == lanes - 1) {
    Warp& warp = all[number];
    warp.blocks[0] = malloc(256);
    warp.blocks[1] = malloc(8192);
    warp.blocks[2] = malloc(1024);
    for (void* block : warp.blocks) {
      if (block == nullptr) atomicAdd(nulls, 1ull);
    }
    warp.mask = all_lanes;
  }
  __syncwarp(all_lanes);
}

__global__ void give(Warp* all) {
  const std::uint32_t number = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const std::uint32_t lane = threadIdx.x % 32;
  if (number >= warps || lane >= lanes) return;
  Warp& warp = all[number];
  if (atomicAnd(&warp.mask, ~(1u << lane)) == 1u << lane) {
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

}  // namespace

int main(int count, char** words) {
  const double seconds = count > 1 ? std::atof(words[1]) : 10;
  require(cudaDeviceSetLimit(cudaLimitMallocHeapSize, std::size_t{1} << 30), "the size of the heap", 0);
  Warp* all = nullptr;
  unsigned long long* nulls = nullptr;
  require(cudaMalloc(&all, warps * sizeof(Warp)), "cudaMalloc", 0);
  require(cudaMalloc(&nulls, sizeof *nulls), "cudaMalloc", 0);
  require(cudaMemset(nulls, 0, sizeof *nulls), "cudaMemset", 0);
  const auto start = std::chrono::steady_clock::now();
  unsigned round = 0;
  do {
    ++round;
    take<<<thread_blocks, threads_per_block>>>(all, nulls);
    require(cudaDeviceSynchronize(), "malloc", round);
    give<<<thread_blocks, threads_per_block>>>(all);
    require(cudaDeviceSynchronize(), "free", round);
  } while (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() < seconds);
  unsigned long long refused = 0;
  require(cudaMemcpy(&refused, nulls, sizeof refused, cudaMemcpyDeviceToHost), "cudaMemcpy", round);
  std::printf("%u rounds without a fault, %llu nulls\n", round, refused);
  return 0;
}
