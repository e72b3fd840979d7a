// This program uses the library on a machine without a GPU. The test hides the GPUs of the machine from it.
#include <cstdio>
#include <exception>

#include "allocators/bump/atomic_malloc.hpp"
#include "allocbench/heap.hpp"

int main() try {
  if (simt::Device::count() != 0) return 1;
  simt::Device device(0);
  simt::Stream stream(device);
  const allocbench::Heap<allocbench::AtomicMalloc> heap(stream, 1 << 20);
  return 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "no_device: %s\n", error.what());
  return 3;
}
