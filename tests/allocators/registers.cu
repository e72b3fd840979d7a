// This file has the malloc kernels of alloc_free over Comb. test_registers.py reads the assembler's report about them.
#include "allocators/comb/comb.hpp"
#include "workloads/support/kernels/call_kernels.hpp"

namespace allocbench {

simt::KernelPointer one_size() { return simt::kernel_pointer<AllocKernel, Comb, Geometry, FixedSize, void**>(); }
simt::KernelPointer many_sizes() { return simt::kernel_pointer<AllocKernel, Comb, Geometry, SizeArray, void**>(); }

}  // namespace allocbench
