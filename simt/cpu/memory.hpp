// Device memory of the CPU back end: page mappings at addresses that repeat from run to run.
//
// The n-th allocation of a process lies where it lay in the last run, in a window that neither the loader nor the heap
// uses, because allocators hash and order pointers: with random addresses the same seed would take other steps. When
// the window is occupied the kernel chooses and addresses_are_fixed() turns false. Fresh memory holds a seeded pattern:
// real device memory is not zero either. Mappings are separated by holes, so a far overrun faults.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace simt::device_memory {

// Throws Fault(out_of_memory) if the machine has less memory than that.
void* allocate(std::size_t bytes);
void release(void* memory) noexcept;

// Keeps released mappings of moderate size for the next allocation at their address, because a search makes and
// releases the same buffers for every seed. A stale access to such a mapping does not fault.
void keep_released();
// The pattern of all memory that is allocated later.
void set_pattern_seed(std::uint64_t seed);
// Bytes written behind the end of an allocation, in its last page: those of the first one released after the last call,
// or nothing.
std::string take_overrun();
// Later allocations of at least so many bytes are neither filled nor counted as memory of the machine. For tests of
// address arithmetic, which touch little of a large pool.
void sparse_from(std::size_t bytes);
// Clears a whole allocation of that kind by giving its pages back; false for any other memory.
bool clear_sparse(void* memory, std::size_t bytes);
// False once an allocation of this process did not get the address it should have.
bool addresses_are_fixed();
std::size_t physical_bytes();
// The kernel's estimate of free memory.
std::size_t available_bytes();

}  // namespace simt::device_memory
