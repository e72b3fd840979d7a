#include "simt/cpu/memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "simt/common.hpp"
#include "simt/cpu/random.hpp"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace simt::device_memory {
namespace {

// The window for device memory is below the range where Linux places libraries and stacks on x86-64. ThreadSanitizer
// and AddressSanitizer accept it as application memory.
constexpr std::uintptr_t window_begin = 0x7e9000000000u;
constexpr std::uintptr_t window_end = 0x7ed000000000u;  // the window has 256 GiB
// Distance between allocations, and their alignment.
constexpr std::size_t granule = std::size_t{64} * 1024;
// After keep_released(), a released mapping of at most `largest_kept` bytes is kept, and all kept mappings together
// have at most `most_kept` bytes. The buffers in the models of the bug search are not larger than `largest_kept`, and
// the pools of timed runs usually are.
constexpr std::size_t largest_kept = std::size_t{16} << 20;
constexpr std::size_t most_kept = std::size_t{256} << 20;
// Linux needs longer to report the free memory than a small model runs. One report covers this many mapped bytes.
constexpr std::size_t bytes_between_looks = std::size_t{16} << 20;

// Tail is the bytes between the end of an allocation and the end of its last page.
struct Tail {
  std::size_t bytes_before;
  std::uint64_t pattern_seed;
};

std::uint64_t pattern(std::uint64_t seed, std::size_t word) {
  return (seed + word) * 0x9e3779b97f4a7c15u ^ 0xa5a5a5a5a5a5a5a5u;
}

struct Allocations {
  std::mutex mutex;
  std::map<std::uintptr_t, std::size_t> bytes_mapped;  // bytes of the mapping at each address
  std::map<std::uintptr_t, Tail> tails;                // filled tails by address
  std::string overrun;
  std::size_t total_bytes = 0;
  std::map<std::uintptr_t, std::size_t> bytes_kept;  // bytes of released mappings that are kept
  std::size_t total_kept_bytes = 0;
  bool keeps_released = false;
  std::size_t bytes_since_look = bytes_between_looks;
  std::uint64_t pattern_seed = 1;
  std::size_t sparse_from = SIZE_MAX;
  bool fixed = true;
};

Allocations& allocations() {
  static Allocations all;
  return all;
}

// Returns the lowest gap of the window that fits, or 0. So the same sequence of calls gives the same addresses.
std::uintptr_t find_gap(const Allocations& all, std::size_t bytes) {
  std::uintptr_t candidate = window_begin;
  for (const auto& [address, size] : all.bytes_mapped) {
    if (address < candidate) continue;
    if (address - candidate >= bytes + granule) break;
    candidate = (address + size + 2 * granule - 1) / granule * granule;
  }
  return candidate + bytes <= window_end ? candidate : 0;
}

void* map_pages(std::uintptr_t wanted, std::size_t bytes, bool& fixed) {
  constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* memory = MAP_FAILED;
  if (wanted != 0) {
    memory = mmap(reinterpret_cast<void*>(wanted), bytes, PROT_READ | PROT_WRITE, flags | MAP_FIXED_NOREPLACE, -1, 0);
  }
  // Linux kernels before 4.17 take the address only as a hint.
  if (memory == MAP_FAILED || reinterpret_cast<std::uintptr_t>(memory) != wanted) fixed = false;
  if (memory == MAP_FAILED) memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
  return memory;
}

// Returns whether the machine has the memory. Without this check, Linux would grant a mapping that is too large, and
// would kill the process when it uses the pages.
bool machine_has(Allocations& all, std::size_t bytes) {
  if (bytes > physical_bytes() - std::min(physical_bytes(), all.total_bytes)) return false;
  if (bytes < bytes_between_looks - std::min(bytes_between_looks, all.bytes_since_look)) {
    all.bytes_since_look += bytes;
    return true;
  }
  all.bytes_since_look = 0;
  return bytes <= available_bytes();
}

// Returns the kept mapping with exactly this address and size, or null. Other kept mappings that overlap this range are
// released.
void* take_kept(Allocations& all, std::uintptr_t wanted, std::size_t bytes) {
  for (auto kept = all.bytes_kept.begin(); kept != all.bytes_kept.end() && kept->first < wanted + bytes;) {
    const auto [address, size] = *kept;
    if (address + size <= wanted) {
      ++kept;
      continue;
    }
    kept = all.bytes_kept.erase(kept);
    all.total_kept_bytes -= size;
#if defined(__SANITIZE_ADDRESS__)
    ASAN_UNPOISON_MEMORY_REGION(reinterpret_cast<void*>(address), size);
#endif
    if (address == wanted && size == bytes) return reinterpret_cast<void*>(address);
    munmap(reinterpret_cast<void*>(address), size);
  }
  return nullptr;
}

void look_for_overrun(Allocations& all, std::uintptr_t address, std::size_t mapped) {
  const auto tail = all.tails.find(address);
  if (tail == all.tails.end()) return;
  const auto [bytes, seed] = tail->second;
  all.tails.erase(tail);
  for (std::size_t at = bytes; at < mapped && all.overrun.empty(); ++at) {
    const std::uint64_t word = pattern(seed, at / 8);
    const auto found = *reinterpret_cast<const unsigned char*>(address + at);
    if (found == reinterpret_cast<const unsigned char*>(&word)[at % 8]) continue;
    all.overrun = "written behind the end of an allocation of " + std::to_string(bytes) + " bytes, at its byte " +
                  std::to_string(at);
  }
}

}  // namespace

void* allocate(std::size_t bytes) {
  Allocations& all = allocations();
  const std::lock_guard lock(all.mutex);
  static const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t mapped = (bytes + page - 1) / page * page;
  const bool sparse = mapped >= all.sparse_from;
  if (!sparse && !machine_has(all, bytes)) {
    throw Fault(FaultKind::out_of_memory, "device_allocate: " + std::to_string(bytes) + " bytes asked, " +
                                              std::to_string(available_bytes()) + " bytes of memory are available");
  }
  const std::uintptr_t wanted = find_gap(all, mapped);
  void* memory = take_kept(all, wanted, mapped);
  if (memory == nullptr) memory = map_pages(wanted, mapped, all.fixed);
  if (memory == MAP_FAILED) {
    throw Fault(FaultKind::out_of_memory, "device_allocate: cannot map " + std::to_string(bytes) + " bytes");
  }
  all.bytes_mapped.emplace(reinterpret_cast<std::uintptr_t>(memory), mapped);
  if (!sparse) all.total_bytes += mapped;
  // Sparse memory has no huge pages, so that a touched byte costs a page instead of 2 MiB.
  if (sparse) madvise(memory, mapped, MADV_NOHUGEPAGE);
  auto* words = static_cast<std::uint64_t*>(memory);
  for (std::size_t i = 0; !sparse && i < mapped / sizeof *words; ++i) {
    words[i] = pattern(all.pattern_seed, i);
  }
  if (!sparse) all.tails[reinterpret_cast<std::uintptr_t>(memory)] = {bytes, all.pattern_seed};
#if defined(__SANITIZE_ADDRESS__)
  ASAN_POISON_MEMORY_REGION(static_cast<char*>(memory) + bytes, mapped - bytes);
#endif
  return memory;
}

void release(void* memory) noexcept {
  if (memory == nullptr) return;
  Allocations& all = allocations();
  const std::lock_guard lock(all.mutex);
  const auto found = all.bytes_mapped.find(reinterpret_cast<std::uintptr_t>(memory));
  if (found == all.bytes_mapped.end()) return;
#if defined(__SANITIZE_ADDRESS__)
  ASAN_UNPOISON_MEMORY_REGION(memory, found->second);
#endif
  const auto [address, mapped] = *found;
  look_for_overrun(all, address, mapped);
  if (mapped < all.sparse_from) all.total_bytes -= mapped;
  all.bytes_mapped.erase(found);
  if (all.keeps_released && mapped <= largest_kept && all.total_kept_bytes + mapped <= most_kept) {
    all.bytes_kept.emplace(address, mapped);
    all.total_kept_bytes += mapped;
#if defined(__SANITIZE_ADDRESS__)
    ASAN_POISON_MEMORY_REGION(memory, mapped);
#endif
  } else {
    munmap(memory, mapped);
  }
}

void keep_released() {
  Allocations& all = allocations();
  const std::lock_guard lock(all.mutex);
  all.keeps_released = true;
}

void set_pattern_seed(std::uint64_t seed) {
  Allocations& all = allocations();
  const std::lock_guard lock(all.mutex);
  all.pattern_seed = mix64(seed);
}

std::string take_overrun() {
  Allocations& all = allocations();
  const std::lock_guard lock(all.mutex);
  return std::exchange(all.overrun, {});
}

void sparse_from(std::size_t bytes) {
  Allocations& all = allocations();
  const std::lock_guard lock(all.mutex);
  all.sparse_from = bytes;
}

bool clear_sparse(void* memory, std::size_t bytes) {
  Allocations& all = allocations();
  const std::lock_guard lock(all.mutex);
  if (bytes < all.sparse_from) return false;
  const auto found = all.bytes_mapped.find(reinterpret_cast<std::uintptr_t>(memory));
  return found != all.bytes_mapped.end() && found->second >= bytes && found->second - bytes < granule &&
         madvise(memory, bytes, MADV_DONTNEED) == 0;
}

bool addresses_are_fixed() {
  Allocations& all = allocations();
  const std::lock_guard lock(all.mutex);
  return all.fixed;
}

std::size_t physical_bytes() {
  static const std::size_t bytes =
      static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

std::size_t available_bytes() {
  std::ifstream meminfo("/proc/meminfo");
  std::string key;
  std::size_t kibibytes = 0;
  std::string rest;
  while (meminfo >> key >> kibibytes && std::getline(meminfo, rest)) {
    if (key == "MemAvailable:") return kibibytes * 1024;
  }
  return static_cast<std::size_t>(sysconf(_SC_AVPHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace simt::device_memory
