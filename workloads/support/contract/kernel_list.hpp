// A workload lists its kernels with the types of this file. A plug-in compiles the kernels for its allocators, and the
// host half of the workload launches them.
//
//   using MyKernels = KernelList<KernelOn<AllocKernel, Geometry, FixedSize, void**>,   // bare and observed
//                                BareKernelOn<ConfinedAlloc, Geometry, void**>>;            // bare only
//
// A kernel is a function object `operator()(Thread&, A allocator, Arguments...)`.
#pragma once

#include <type_traits>

namespace allocbench {

// A kernel that is compiled for the allocator itself and for the observed one (allocators/support/adaptors) of the
// verification passes.
template <class Kernel, class... Arguments>
struct KernelOn {};

// A kernel that is compiled only for the allocator itself, because it fills its blocks itself or is only timed. If the
// allocator has the trait records_applications, the observed form is compiled for traces, too.
template <class Kernel, class... Arguments>
struct BareKernelOn {};

// A kernel that is compiled only for the observed allocator, because it is never timed. A bare allocator is observed
// with empty ledgers to run such a kernel.
template <class Kernel, class... Arguments>
struct UntimedKernelOn {};

// A kernel that is compiled for the allocator with the adaptor Aligned (allocators/support/adaptors/aligned.hpp). The
// list also needs a KernelOn, whose observed form also handles aligned requests.
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
