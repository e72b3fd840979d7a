// This program has a kernel that calls malloc() and free(). One include is enough to record these calls. Host code
// keeps its own malloc() and free().
#include <cstdio>
#include <exception>

#include "allocbench/trace_malloc.hpp"

__global__ void push_and_pop(void** blocks) {
  blocks[threadIdx.x] = malloc(64);
  free(blocks[threadIdx.x]);
}

int main() try {
  allocbench::MallocTrace trace(64 << 20);
  void** const on_host = static_cast<void**>(malloc(sizeof(void*)));
  free(on_host);
  void** blocks = nullptr;
  simt::check_cuda(cudaMalloc(&blocks, 32 * sizeof(void*)), "cudaMalloc");
  push_and_pop<<<1, 32>>>(blocks);
  trace.end_kernel("push_and_pop", {1, 32});
  return trace.trace().calls.size() == 64 ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "trace_malloc: %s\n", error.what());
  return 3;
}
