// The kernels of a workload, by type: what a plug-in compiles for its allocators and what the workload's host half may
// launch.
//
//   using MyKernels = KernelList<KernelOn<AllocKernel, Geometry, FixedSize, void**>,   // bare and observed
//                                BareKernelOn<ConfinedAlloc, Geometry, void**>>;            // bare alone
//
// A kernel is a function object `operator()(Thread&, A allocator, Arguments...)`.
#pragma once

#include <type_traits>

namespace allocbench {

// Compiled for the allocator itself and for the observed one (allocators/support/adaptors) of the verification passes.
template <class Kernel, class... Arguments>
struct KernelOn {};

// Compiled for the allocator itself only: for kernels that fill their blocks themselves or are only timed. Allocators
// with the trait records_applications have the observed form, too, for traces.
template <class Kernel, class... Arguments>
struct BareKernelOn {};

// Compiled for the observed allocator only; a bare one is observed with ledgers that note nothing. For kernels that are
// never timed.
template <class Kernel, class... Arguments>
struct UntimedKernelOn {};

// Compiled for the allocator behind Aligned (allocators/support/adaptors/aligned.hpp), beside a KernelOn, whose
// observed form serves aligned requests as well.
template <class Kernel, class... Arguments>
struct AlignedKernelOn {};

template <class... Kernels>
struct KernelList {};

namespace detail {

template <class List, class Kernel>
struct Lists;
template <class... Members, class Kernel>
struct Lists<KernelList<Members...>, Kernel> : std::bool_constant<(std::is_same_v<Members, Kernel> || ...)> {};

template <class... Lists>
struct Joined;
template <class List>
struct Joined<List> {
  using type = List;
};
template <template <class...> class List, class... A, class... B, class... Lists>
struct Joined<List<A...>, List<B...>, Lists...> : Joined<List<A..., B...>, Lists...> {};

}  // namespace detail

template <class List, class Kernel, class... Arguments>
inline constexpr bool lists_untimed_kernel = detail::Lists<List, UntimedKernelOn<Kernel, Arguments...>>::value;

template <class List, class Kernel, class... Arguments>
inline constexpr bool lists_aligned_kernel = detail::Lists<List, AlignedKernelOn<Kernel, Arguments...>>::value;

template <class List, class Kernel, class... Arguments>
inline constexpr bool lists_kernel =
    detail::Lists<List, KernelOn<Kernel, Arguments...>>::value ||
    detail::Lists<List, BareKernelOn<Kernel, Arguments...>>::value || lists_untimed_kernel<List, Kernel, Arguments...>;

template <class... Lists>
using JoinedKernels = typename detail::Joined<Lists...>::type;

}  // namespace allocbench
