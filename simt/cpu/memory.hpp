// The device memory of the CPU back end consists of page mappings at addresses that repeat from run to run.
//
// The same sequence of allocations and releases gives the same addresses in every run. Allocators may hash or order
// pointers, so with random addresses the same seed could lead to different steps. The addresses are in a window that
// neither the loader nor the heap uses. If the window is occupied or full, Linux chooses the address and
// addresses_are_fixed() becomes false. Fresh memory contains a seeded pattern, because real device memory is not zero
// either. Holes separate the mappings, so an overrun into a hole faults.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace simt::device_memory {

// Allocates device memory. Throws Fault(out_of_memory) if the machine has less free memory.
void* allocate(std::size_t bytes);
void release(void* memory) noexcept;

// Keeps released mappings of up to 16 MiB for the next allocation at their address, because a search allocates and
// releases the same buffers for every seed. Only AddressSanitizer detects a stale access to such a mapping.
void keep_released();
// Sets the pattern of all later allocations.
void set_pattern_seed(std::uint64_t seed);
// Returns a text about bytes that were written after the end of an allocation, in its last page. The text is about the
// first such allocation released since the last call. It is empty if there is none.
std::string take_overrun();
// Makes later allocations of at least this size sparse: they are neither filled nor counted as memory of the machine.
// This is for tests of address arithmetic, which touch little of a large pool.
void sparse_from(std::size_t bytes);
// Clears a sparse allocation by returning its pages to Linux. Returns false for any other memory.
bool clear_sparse(void* memory, std::size_t bytes);
// Returns false after an allocation of this process got a different address than planned.
bool addresses_are_fixed();
std::size_t physical_bytes();
// Returns Linux's estimate of the free memory in bytes.
std::size_t available_bytes();

}  // namespace simt::device_memory
