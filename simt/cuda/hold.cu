#include <atomic>
#include <cstdlib>
#include <cstring>
#include <unordered_set>

#include "simt/cuda/global_timer.hpp"
#include "simt/cuda/hold.hpp"
#include "simt/cuda/host.hpp"

namespace simt {
namespace {

// A hold ends before launch 257, well before the queue of a stream is full (about a thousand launches). In a phase with
// more launches, most of them start back to back even without a hold.
constexpr std::uint32_t most_launches = 256;
constexpr const char* serialised = "launches wait for earlier kernels (a profiler, or CUDA_LAUNCH_BLOCKING)";

Hold* active = nullptr;

std::unordered_set<const void*>& loaded_kernels() {
  static std::unordered_set<const void*> kernels;
  return kernels;
}

// Tickets only grow, so a word that is never reset distinguishes each hold from the next.
__global__ void hold_kernel(volatile Hold::Words* words, std::uint32_t ticket, std::uint64_t limit) {
  const std::uint64_t start = global_nanoseconds();
  while (static_cast<std::int32_t>(words->released - ticket) < 0) {
    if (global_nanoseconds() - start > limit) {
      words->gave_up = ticket;
      return;
    }
    __nanosleep(100);
  }
}

bool launches_block() {
  const char* value = std::getenv("CUDA_LAUNCH_BLOCKING");
  return value != nullptr && *value != '\0' && std::strcmp(value, "0") != 0;
}

}  // namespace

Hold::Hold() : serialised_(launches_block()) {
  void* memory = nullptr;
  check_cuda(cudaHostAlloc(&memory, sizeof(Words), cudaHostAllocMapped), "cudaHostAlloc");
  words_ = new (memory) Words{};
  // The code of the holding kernel must be loaded before the hold begins.
  cudaFuncAttributes attributes{};
  check_cuda(cudaFuncGetAttributes(&attributes, hold_kernel), "cudaFuncGetAttributes");
}

Hold::~Hold() {
  end();
  static_cast<void>(cudaFreeHost(words_));
}

void Hold::begin(cudaStream_t stream, double limit_seconds) {
  before_wait("another hold");
  why_ = serialised_ ? serialised : nullptr;
  if (serialised_) return;
  Words* on_device = nullptr;
  check_cuda(cudaHostGetDevicePointer(reinterpret_cast<void**>(&on_device), words_, 0), "cudaHostGetDevicePointer");
  ++ticket_;
  launches_ = 0;
  hold_kernel<<<1, 1, 0, stream>>>(on_device, ticket_, static_cast<std::uint64_t>(limit_seconds * 1e9));
  check_cuda(cudaGetLastError(), "kernel launch");
  if (std::atomic_ref(words_->gave_up).load(std::memory_order_acquire) == ticket_) {
    serialised_ = true;  // the launch returned after the end of its kernel
    why_ = serialised;
    return;
  }
  active = this;
}

void Hold::end() {
  std::atomic_ref(words_->released).store(ticket_, std::memory_order_release);
  if (active == this) active = nullptr;
}

void Hold::end_early(const char* why) {
  why_ = why;
  end();
}

std::string Hold::ended_early() const {
  if (why_ != nullptr) return why_;
  const bool gave_up = std::atomic_ref(words_->gave_up).load(std::memory_order_acquire) == ticket_ && ticket_ != 0;
  return gave_up ? "the host took longer than the limit of a hold" : "";
}

void Hold::before_wait(const char* call) {
  if (active != nullptr) active->end_early(call);
}

void Hold::before_use(const void* kernel) {
  if (!loaded_kernels().insert(kernel).second) return;
  before_wait("a kernel is loaded");
}

void Hold::before_launch(const void* kernel) {
  before_use(kernel);
  if (active != nullptr && ++active->launches_ > most_launches) {
    active->end_early("more launches than a queue takes");
  }
}

}  // namespace simt
