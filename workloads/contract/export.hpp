// What a plug-in unit compiles: an allocator type A as an AllocatorType, and the kernels of a list for it. Included by
// generated plug-in units and by tests, which link their allocators.
#pragma once

#include <new>

#include "allocators/adaptors/checked.hpp"
#include "allocators/adaptors/counted.hpp"
#include "allocators/adaptors/failing.hpp"
#include "allocators/contract/allocator.hpp"
#include "allocators/contract/session.hpp"
#include "workloads/common/page_set.hpp"
#include "workloads/contract/allocator_type.hpp"
#include "workloads/contract/kernel_list.hpp"

namespace allocbench {

// The allocator behind the adaptors of untimed passes: contents are checked, mallocs may be refused, calls are counted.
template <class A>
using Observed = Checked<Failing<Counted<A>>>;

template <class A>
AllocatorFunctions functions_of() {
  using Parameters = typename A::Parameters;
  AllocatorFunctions functions;
  functions.handle_bytes = sizeof(A);
  functions.observed_bytes = sizeof(Observed<A>);
  functions.device_heap_bytes = [](std::size_t pool_bytes, const ParameterValues& values) {
    return device_heap_bytes<A>(pool_bytes, make_parameters<Parameters>(values));
  };
  functions.max_request = [](std::size_t pool_bytes, const ParameterValues& values) {
    return max_request<A>(pool_bytes, make_parameters<Parameters>(values));
  };
  functions.create = [](Arena& arena, const ParameterValues& values, void* handle) {
    new (handle) A(A::create(arena, make_parameters<Parameters>(values)));
  };
  functions.observe = [](const void* handle, const CallLedger& calls, const FailureRule& failures,
                         const ContentLedger& contents, void* observed) {
    new (observed)
        Observed<A>(Failing<Counted<A>>(Counted<A>(*static_cast<const A*>(handle), calls), failures), contents);
  };
  if constexpr (A::traits.fresh == Fresh::by_reset) {
    functions.reset = [](void* handle, simt::Stream& stream) { static_cast<A*>(handle)->reset(stream); };
  }
  if constexpr (requires(const A& allocator, simt::Stream& stream) { allocator.broken_invariant(stream); }) {
    functions.broken_invariant = [](const void* handle, simt::Stream& stream) -> std::string {
      return static_cast<const A*>(handle)->broken_invariant(stream);
    };
  }
  if constexpr (requires(const A& allocator, simt::Stream& stream, const PageSet& used) {
                  allocator.occupy(stream, used);
                }) {
    functions.page_count = [](const void* handle) { return static_cast<const A*>(handle)->page_count(); };
    functions.occupy = [](const void* handle, simt::Stream& stream, const PageSet& used) {
      static_cast<const A*>(handle)->occupy(stream, used);
    };
  }
  if constexpr (A::traits.pool == PoolLocation::own) {
    functions.own_pool = [](const void* handle) { return static_cast<const A*>(handle)->own_pool(); };
  }
  if constexpr (requires(A & allocator) { allocator.destroy(); }) {
    functions.destroy = [](void* handle) { static_cast<A*>(handle)->destroy(); };
  }
  return functions;
}

template <class A>
AllocatorType allocator_type(const char* plugin) {
  static_assert(Allocator<A>, "the type does not satisfy the contract in allocators/contract/allocator.hpp");
  return AllocatorType(A::traits, plugin, describe_parameters<typename A::Parameters>(), functions_of<A>());
}

namespace detail {

// The kernels of a list that are compiled for the observed allocator.
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
  return {&typeid(KernelOn<Kernel, Arguments...>), simt::kernel_pointer<Kernel, A, Arguments...>(), {}};
}
template <class A, class Family, class Kernel, class... Arguments>
AllocatorKernel compiled_kernel(UntimedKernelOn<Kernel, Arguments...>*) {
  return {&typeid(KernelOn<Kernel, Arguments...>), {}, observed_kernel<A, Family, Kernel, Arguments...>()};
}

template <class A, class... Kernels>
std::vector<AllocatorKernel> compiled_kernels(KernelList<Kernels...>*) {
  using Family = typename ObservedFamily<A, KernelList<Kernels...>>::type;
  return {compiled_kernel<A, Family>(static_cast<Kernels*>(nullptr))...};
}

}  // namespace detail

// Bare kernels are entries of their own, as they are timed. The observed ones of an allocator are a family: they would
// take most of the build time.
template <class A, class Kernels>
std::vector<AllocatorKernel> kernels_for() {
  return detail::compiled_kernels<A>(static_cast<Kernels*>(nullptr));
}

}  // namespace allocbench
