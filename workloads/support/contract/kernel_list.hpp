// The kernels of a workload, by type. A plug-in compiles them for its allocators, and the host half of the workload
// launches them.
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

// Compiled only for the allocator itself, for kernels that fill their blocks themselves or are only timed. For traces,
// allocators with the trait records_applications also have the observed form.
template <class Kernel, class... Arguments>
struct BareKernelOn {};

// Compiled only for the observed allocator, for kernels that are never timed. A bare allocator is observed with empty
// ledgers.
template <class Kernel, class... Arguments>
struct UntimedKernelOn {};

// Compiled for the allocator with the adaptor Aligned (allocators/support/adaptors/aligned.hpp), in addition to a
// KernelOn, whose observed form also serves aligned requests.
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
