// On the CPU executor, every kernel has its own entry function, even if it is a member of a family.
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include "simt/common.hpp"
#include "simt/cpu/thread.hpp"

namespace simt {

// Runs one thread of the kernel. `arguments` is an array of pointers to the kernel object and to its arguments.
template <class Kernel, class... Args>
void kernel_entry(Lane& lane, const void* arguments) {
  const auto* const pointers = static_cast<const void* const*>(arguments);
  [&]<std::size_t... i>(std::index_sequence<i...>) {
    const Kernel kernel = *static_cast<const Kernel*>(pointers[0]);
    std::tuple<Args...> own(*static_cast<const Args*>(pointers[1 + i])...);
    Thread thread(lane);
    kernel(thread, std::get<i>(own)...);
  }
  (std::index_sequence_for<Args...>{});
}

template <class Kernel, class... Args>
KernelPointer kernel_pointer() {
  return {reinterpret_cast<const void*>(&kernel_entry<Kernel, Args...>)};
}

namespace detail {

template <class Kernel, class... Args>
KernelPointer pointer_of(FamilyMember<Kernel, Args...>*) {
  return kernel_pointer<Kernel, Args...>();
}

}  // namespace detail

template <class Member, class... Members>
KernelPointer member_pointer() {
  static_assert((std::is_same_v<Member, Members> || ...), "no such member in the family");
  return detail::pointer_of(static_cast<Member*>(nullptr));
}

}  // namespace simt
