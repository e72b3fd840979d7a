#include "simt/reservation.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "simt/cpu/memory.hpp"

namespace simt {

Reservation::Reservation(Device&, std::size_t most_bytes) : granule_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {
  most_bytes_ = granules(most_bytes);
  void* const base = mmap(nullptr, most_bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) {
    throw Fault(FaultKind::out_of_memory, "there are no addresses for " + std::to_string(most_bytes) + " bytes");
  }
  base_ = static_cast<std::byte*>(base);
}

Reservation::~Reservation() { munmap(base_, most_bytes_); }

void Reservation::grow(std::size_t bytes) {
  require_room(bytes);
  const std::size_t wanted = granules(bytes);
  if (wanted <= bytes_) return;
  if (wanted - bytes_ > device_memory::available_bytes() ||
      mprotect(base_ + bytes_, wanted - bytes_, PROT_READ | PROT_WRITE) != 0) {
    throw Fault(FaultKind::out_of_memory, "the machine has no " + std::to_string(wanted - bytes_) + " bytes more");
  }
  bytes_ = wanted;
}

}  // namespace simt
