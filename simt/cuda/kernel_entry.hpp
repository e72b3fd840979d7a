// The entry of a kernel on CUDA is a __global__ function: one for each kernel, or one for all members of a family.
//
// The assembler compiles a function again for every kernel that calls it. The members of a family are functions of one
// kernel, so the assembler compiles the functions that they share only once. All members use the register count of that
// kernel, which allows blocks of any size. Shared memory is dynamic and belongs to the launch.
#pragma once

#include <array>
#include <type_traits>
#include <utility>

#include "simt/common.hpp"
#include "simt/cuda/thread.hpp"

namespace simt {

template <class Kernel, class... Args>
__global__ void kernel_entry(Kernel kernel, Args... args) {
  Thread thread;
  kernel(thread, args...);
}

template <class Kernel, class... Args>
KernelPointer kernel_pointer() {
  return {reinterpret_cast<const void*>(&kernel_entry<Kernel, Args...>)};
}

namespace detail {

// Packed is the layout of a member's kernel object and arguments, one after the other.
template <class... Values>
struct Packed {
  static_assert((std::is_trivially_copyable_v<Values> && ...), "arguments of kernels travel as bytes");
  static_assert(((alignof(Values) <= max_packed_alignment) && ...));

  static constexpr auto places = [] {
    std::array<PackedPlace, sizeof...(Values)> all{};
    std::uint32_t end = 0;
    std::size_t i = 0;
    const auto place = [&](std::size_t size, std::size_t alignment) {
      const auto begin = static_cast<std::uint32_t>((end + alignment - 1) / alignment * alignment);
      all[i++] = {begin, static_cast<std::uint32_t>(size)};
      end = begin + static_cast<std::uint32_t>(size);
    };
    (place(sizeof(Values), alignof(Values)), ...);
    return all;
  }();
  template <std::size_t i>
  static constexpr std::uint32_t offset = places[i].offset;
  static constexpr std::uint32_t bytes = places.back().offset + places.back().bytes;
  static_assert(bytes <= max_packed_bytes, "a family's kernels have no room for so many bytes of arguments");
};

template <std::uint32_t size>
struct PackedBytes {
  alignas(max_packed_alignment) unsigned char bytes[size];
};

template <class Member>
struct MemberEntry;
template <class Kernel, class... Args>
struct MemberEntry<FamilyMember<Kernel, Args...>> {
  using Arguments = Packed<Kernel, Args...>;

  // Runs the member. It is not inlined, because in one function the local memory of all members would add up.
  template <std::size_t... i>
  static SIMT_NOINLINE_FN void run(const unsigned char* packed, std::index_sequence<i...>) {
    Thread thread;
    const Kernel kernel = *reinterpret_cast<const Kernel*>(packed);
    kernel(thread, Args(*reinterpret_cast<const Args*>(packed + Arguments::template offset<1 + i>))...);
  }
  static SIMT_FN void run(const unsigned char* packed) { run(packed, std::index_sequence_for<Args...>{}); }
};

}  // namespace detail

// Runs the member with this number. The bound of one block per multiprocessor prevents the assembler from saving
// registers for two blocks. Such savings cause spills.
template <std::uint32_t size, class... Members>
__global__ void __launch_bounds__(max_threads_per_block, 1)
    family_entry(std::uint32_t member, const __grid_constant__ detail::PackedBytes<size> packed) {
  std::uint32_t number = 0;
  ((number++ == member ? detail::MemberEntry<Members>::run(packed.bytes) : void()), ...);
}

template <class Member, class... Members>
KernelPointer member_pointer() {
  static_assert((std::is_same_v<Member, Members> || ...), "no such member in the family");
  constexpr std::uint32_t number = [] {
    std::uint32_t found = 0;
    std::uint32_t place = 0;
    ((found = std::is_same_v<Member, Members> ? place : found, ++place), ...);
    return found;
  }();
  constexpr std::uint32_t size = [] {
    std::uint32_t most = 0;
    for (const std::uint32_t bytes : {detail::MemberEntry<Members>::Arguments::bytes...})
      most = most < bytes ? bytes : most;
    return most;
  }();
  return {reinterpret_cast<const void*>(&family_entry<size, Members...>), number,
          detail::MemberEntry<Member>::Arguments::places.data()};
}

}  // namespace simt
