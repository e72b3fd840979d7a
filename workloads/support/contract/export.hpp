// This file makes an AllocatorType from an allocator type A. Plug-in units that export allocators, and tests that link
// their allocators, include this header.
#pragma once

#include <new>

#include "allocators/support/contract/allocator.hpp"
#include "workloads/support/contract/allocator_type.hpp"
#include "workloads/support/contract/compiled_kernels.hpp"
#include "workloads/support/random/page_set.hpp"

namespace allocbench {

struct AnyThread;  // attach() accepts any thread

// Adds the functions for the allocator behind adaptors.
template <class A>
void add_forms(AllocatorFunctions& functions) {
  functions.observed_bytes = sizeof(Observed<A>);
  functions.aligned_bytes = sizeof(Aligned<A>);
  functions.observe = [](const void* handle, std::uint32_t alignment, const CallLedger& calls,
                         const FailureRule& failures, const ContentLedger& contents, void* observed) {
    using Counting = Counted<Aligned<A>>;
    const Counting counting(Aligned<A>(*static_cast<const A*>(handle), alignment), calls);
    new (observed) Observed<A>(Failing<Counting>(counting, failures), contents);
  };
  functions.align = [](const void* handle, std::uint32_t alignment, void* aligned) {
    new (aligned) Aligned<A>(*static_cast<const A*>(handle), alignment);
  };
  functions.alignment_of = [](const void* handle, std::size_t bytes) -> std::size_t {
    if constexpr (requires(const A& allocator) { allocator.alignment_of(bytes); }) {
      return static_cast<const A*>(handle)->alignment_of(bytes);
    } else {
      return A::traits.alignment;
    }
  };
}

template <class A>
AllocatorFunctions functions_of() {
  using Parameters = typename A::Parameters;
  AllocatorFunctions functions;
  functions.handle_bytes = sizeof(A);
  functions.keeps_sessions = requires(A & allocator, AnyThread & thread) { allocator.attach(thread); };
  functions.device_heap_bytes = [](std::size_t pool_bytes, const ParameterValues& values) {
    return device_heap_bytes<A>(pool_bytes, make_parameters<Parameters>(values));
  };
  functions.max_request = [](std::size_t pool_bytes, const ParameterValues& values) {
    return max_request<A>(pool_bytes, make_parameters<Parameters>(values));
  };
  if constexpr (requires(const Parameters& parameters) { A::why_too_many_free(0, parameters, 0, 0.0); }) {
    functions.why_too_many_free = [](std::size_t pool_bytes, const ParameterValues& values, std::size_t bytes,
                                     double free_share) {
      return A::why_too_many_free(pool_bytes, make_parameters<Parameters>(values), bytes, free_share);
    };
  }
  functions.create = [](Arena& arena, const ParameterValues& values, void* handle) {
    new (handle) A(A::create(arena, make_parameters<Parameters>(values)));
  };
  add_forms<A>(functions);
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
  static_assert(Allocator<A>, "the type does not satisfy the contract in allocators/support/contract/allocator.hpp");
  return AllocatorType(A::traits, plugin, describe_parameters<typename A::Parameters>(), functions_of<A>());
}

template <class... Allocators>
std::vector<AllocatorType> allocator_types(const char* plugin, AllocatorList<Allocators...>) {
  return {allocator_type<Allocators>(plugin)...};
}

}  // namespace allocbench
