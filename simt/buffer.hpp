// Buffer is device memory as a typed array, for both back ends. Each back end implements the functions declared here.
#pragma once

#include <utility>
#include <vector>

#include "simt/common.hpp"

namespace simt {

class Stream;

// Allocates untyped device memory. Throws Fault(out_of_memory) if the device has too little.
void* device_allocate(std::size_t bytes);
void device_release(void* memory) noexcept;
void device_fill(Stream& stream, void* memory, unsigned char byte, std::size_t bytes);
void copy_to_host(Stream& stream, void* host, const void* device, std::size_t bytes);
void copy_to_device(Stream& stream, void* device, const void* host, std::size_t bytes);
// Copies in stream order. On CUDA, this only enqueues the copy. Source and destination must not overlap.
void copy_on_device(Stream& stream, void* to, const void* from, std::size_t bytes);

// Buffer is an array in device memory. Copies to and from the host follow the earlier work on the stream, and are
// complete when the call returns.
template <class T>
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::size_t size)
      : data_(static_cast<T*>(size == 0 ? nullptr : device_allocate(size * sizeof(T)))), size_(size) {}
  ~Buffer() { device_release(data_); }
  Buffer(Buffer&& other) noexcept : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }

  T* data() const { return data_; }
  std::size_t size() const { return size_; }
  void fill_bytes(Stream& stream, unsigned char byte) {
    if (size_ != 0) device_fill(stream, data_, byte, size_ * sizeof(T));
  }
  std::vector<T> to_host(Stream& stream) const {
    std::vector<T> host(size_);
    if (size_ != 0) copy_to_host(stream, host.data(), data_, size_ * sizeof(T));
    return host;
  }
  void from_host(Stream& stream, const std::vector<T>& host) {
    if (host.size() != size_) throw Fault(FaultKind::environment, "Buffer::from_host: sizes differ");
    if (size_ != 0) copy_to_device(stream, data_, host.data(), size_ * sizeof(T));
  }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace simt
