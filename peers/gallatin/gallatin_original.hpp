// GallatinOriginal is the authors' Gallatin (github.com/saltsystemslab/gallatin) as a plug-in. Segments are 16 MiB, and
// slices are 16 B to 4 KiB, as in the authors' tests.
#pragma once

#include <gallatin/allocators/gallatin.cuh>

#include "allocators/support/contract/allocator.hpp"

namespace allocbench {

class GallatinOriginal {
  static constexpr std::uint64_t segment_bytes = 16ull << 20;
  static constexpr std::uint64_t least_segments = 32;
  using Library = gallatin::allocators::Gallatin<segment_bytes, 16, 4096>;

 public:
  struct Parameters {
    std::uint64_t seed = 42;
    static auto fields() {
      return std::tuple{Field{"seed", &Parameters::seed, "", "of the library's trees", "the library's own tests"}};
    }
  };
  static constexpr Traits traits{.name = "gallatin_original",
                                 .display_name = "Gallatin, original",
                                 .paper = "McCoy & Pandey 2024",
                                 .summary = "the authors' code: segments found in van Emde Boas trees",
                                 .form = Form::original,
                                 .pool = PoolLocation::own,
                                 .fresh = Fresh::by_process,
                                 .backends = Backends::cuda_only};

  static GallatinOriginal create(Arena& arena, const Parameters& parameters) {
    if (arena.pool_bytes() < least_segments * segment_bytes) {
      throw Unsupported(
          "gallatin_original needs a pool of at least 512 MiB: its caches take a block of every size at the start");
    }
    GallatinOriginal allocator;
    allocator.library_ = Library::generate_on_device(arena.pool_bytes(), parameters.seed, false);
    const auto library = copied(allocator.library_);
    const auto table = copied(library.get()->table);
    allocator.pool_ = {reinterpret_cast<std::byte*>(table.get()->memory), table.get()->num_segments * segment_bytes};
    return allocator;
  }
  void destroy() { Library::free_on_device(library_); }
  Pool own_pool() const { return pool_; }

  template <class Thread>
  SIMT_FN void* malloc(Thread&, std::size_t bytes) {
    return library_->malloc(bytes);
  }
  template <class Thread>
  SIMT_FN void free(Thread&, void* block) {
    if (block != nullptr) library_->free(block);
  }

 private:
  // Copy holds the bytes of a device object on the host. No constructor of the object's type may run on the host.
  template <class T>
  class Copy {
   public:
    explicit Copy(const T* device) { cudaMemcpy(bytes_, device, sizeof(T), cudaMemcpyDeviceToHost); }
    const T* get() const { return reinterpret_cast<const T*>(bytes_); }

   private:
    alignas(T) std::byte bytes_[sizeof(T)];
  };
  template <class T>
  static Copy<T> copied(const T* device) {
    return Copy<T>(device);
  }

  Library* library_ = nullptr;
  Pool pool_;
};

}  // namespace allocbench

ALLOCBENCH_REGISTER(gallatin_original, GallatinOriginal)
