// This header compiles the kernels of a list for an allocator type A. Plug-in units and tests include this header.
#pragma once

#include <array>

#include "allocators/support/adaptors/aligned.hpp"
#include "allocators/support/adaptors/checked.hpp"
#include "allocators/support/adaptors/counted.hpp"
#include "allocators/support/adaptors/failing.hpp"
#include "simt/simt.hpp"
#include "workloads/support/contract/kernel_list.hpp"
#include "workloads/support/contract/unit_kernels.hpp"

namespace allocbench {

// The allocator with the adaptors of untimed passes. They can check contents, refuse mallocs, count calls and align
// blocks.
template <class A>
using Observed = Checked<Failing<Counted<Aligned<A>>>>;

namespace detail {

// ObservedFamily is the family of a list's kernels for the observed allocator.
template <class A, class Kernel>
struct ObservedFamily {
  using type = simt::KernelFamily<>;
};
template <class A, class Kernel, class... Arguments>
struct ObservedFamily<A, KernelOn<Kernel, Arguments...>> {
  using type = simt::KernelFamily<simt::FamilyMember<Kernel, Observed<A>, Arguments...>>;
};
template <class A, class Kernel, class... Arguments>
struct ObservedFamily<A, UntimedKernelOn<Kernel, Arguments...>> : ObservedFamily<A, KernelOn<Kernel, Arguments...>> {};
template <class A, class Kernel, class... Arguments>
struct ObservedFamily<A, BareKernelOn<Kernel, Arguments...>>
    : std::conditional_t<A::traits.records_applications, ObservedFamily<A, KernelOn<Kernel, Arguments...>>,
                         ObservedFamily<A, void>> {};
template <class A, class... Kernels>
struct ObservedFamily<A, KernelList<Kernels...>>
    : Joined<simt::KernelFamily<>, typename ObservedFamily<A, Kernels>::type...> {};

template <class A, class Family, class Kernel, class... Arguments>
simt::KernelPointer observed_kernel() {
  return Family::template pointer<simt::FamilyMember<Kernel, Observed<A>, Arguments...>>();
}

template <class A, class Family, class Kernel, class... Arguments>
AllocatorKernel compiled_kernel(KernelOn<Kernel, Arguments...>*) {
  return {&typeid(KernelOn<Kernel, Arguments...>), simt::kernel_pointer<Kernel, A, Arguments...>(),
          observed_kernel<A, Family, Kernel, Arguments...>()};
}
template <class A, class Family, class Kernel, class... Arguments>
AllocatorKernel compiled_kernel(BareKernelOn<Kernel, Arguments...>*) {
  if constexpr (A::traits.records_applications) {
    return compiled_kernel<A, Family>(static_cast<KernelOn<Kernel, Arguments...>*>(nullptr));
  }
  return {&typeid(KernelOn<Kernel, Arguments...>), simt::kernel_pointer<Kernel, A, Arguments...>(), {}};
}
template <class A, class Family, class Kernel, class... Arguments>
AllocatorKernel compiled_kernel(AlignedKernelOn<Kernel, Arguments...>*) {
  return {&typeid(AlignedKernelOn<Kernel, Arguments...>), simt::kernel_pointer<Kernel, Aligned<A>, Arguments...>(), {}};
}
template <class A, class Family, class Kernel, class... Arguments>
AllocatorKernel compiled_kernel(UntimedKernelOn<Kernel, Arguments...>*) {
  return {&typeid(KernelOn<Kernel, Arguments...>), {}, observed_kernel<A, Family, Kernel, Arguments...>()};
}

template <class A, class... Kernels>
CompiledKernels compiled_kernels(KernelList<Kernels...>*) {
  using Family = typename ObservedFamily<A, KernelList<Kernels...>>::type;
  static const std::array<AllocatorKernel, sizeof...(Kernels)> kernels{
      compiled_kernel<A, Family>(static_cast<Kernels*>(nullptr))...};
  return kernels;
}

}  // namespace detail

// Each bare kernel has its own entry, because it is timed. For each allocator, the observed kernels of a list form a
// family, because otherwise they would take most of the build time.
template <class A, class Kernels>
CompiledKernels kernels_for() {
  return detail::compiled_kernels<A>(static_cast<Kernels*>(nullptr));
}

}  // namespace allocbench
