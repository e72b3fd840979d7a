// Atomic words on CUDA use inline PTX with an explicit state space.
//
// `cuda::atomic_ref` uses generic addresses, for which the compiler makes more machine code. Words have 32 or 64 bits.
// They are unsigned integers. Allocators that pack an address with a tag or a count store an offset in the pool, which
// needs fewer bits than a pointer.
#pragma once

#include <type_traits>

#include "simt/common.hpp"

namespace simt {
namespace ptx {

template <class T, Space space>
SIMT_FN std::uint64_t address_of(T* pointer) {
  if constexpr (space == Space::global) {
    return static_cast<std::uint64_t>(__cvta_generic_to_global(pointer));
  } else {
    return static_cast<std::uint64_t>(__cvta_generic_to_shared(pointer));
  }
}

// Acquire and release operations are compiler barriers, too. Plain accesses may move across relaxed operations.
#define SIMT_PTX_LOAD(ORDER, SCOPE, SPACE, TYPE, REGISTER, CLOBBER) \
  asm volatile("ld." ORDER "." SCOPE "." SPACE "." TYPE " %0, [%1];" : "=" REGISTER(result) : "l"(address)CLOBBER)
#define SIMT_PTX_STORE(ORDER, SCOPE, SPACE, TYPE, REGISTER, CLOBBER) \
  asm volatile("st." ORDER "." SCOPE "." SPACE "." TYPE " [%0], %1;" ::"l"(address), REGISTER(value) CLOBBER)
#define SIMT_PTX_RMW(ORDER, SCOPE, SPACE, OP, TYPE, REGISTER, CLOBBER)            \
  asm volatile("atom." ORDER "." SCOPE "." SPACE "." OP "." TYPE " %0, [%1], %2;" \
               : "=" REGISTER(result)                                             \
               : "l"(address), REGISTER(value) CLOBBER)
#define SIMT_PTX_CAS(ORDER, SCOPE, SPACE, TYPE, REGISTER, CLOBBER)                 \
  asm volatile("atom." ORDER "." SCOPE "." SPACE ".cas." TYPE " %0, [%1], %2, %3;" \
               : "=" REGISTER(result)                                              \
               : "l"(address), REGISTER(compare), REGISTER(value) CLOBBER)
// SIMT_PTX_ORDERED includes the colon before the clobber list, because relaxed operations have no clobber list.
#define SIMT_PTX_ORDERED : "memory"
#define SIMT_PTX_UNORDERED

#define SIMT_PTX_BY_SPACE(MACRO, ORDER, CLOBBER, ...)    \
  if constexpr (space == Space::global) {                \
    MACRO(ORDER, "gpu", "global", __VA_ARGS__, CLOBBER); \
  } else {                                               \
    MACRO(ORDER, "cta", "shared", __VA_ARGS__, CLOBBER); \
  }
#define SIMT_PTX_BY_RMW_ORDER(MACRO, ...)                                \
  if constexpr (std::is_same_v<Order, Relaxed>) {                        \
    SIMT_PTX_BY_SPACE(MACRO, "relaxed", SIMT_PTX_UNORDERED, __VA_ARGS__) \
  } else if constexpr (std::is_same_v<Order, Acquire>) {                 \
    SIMT_PTX_BY_SPACE(MACRO, "acquire", SIMT_PTX_ORDERED, __VA_ARGS__)   \
  } else if constexpr (std::is_same_v<Order, Release>) {                 \
    SIMT_PTX_BY_SPACE(MACRO, "release", SIMT_PTX_ORDERED, __VA_ARGS__)   \
  } else {                                                               \
    static_assert(std::is_same_v<Order, AcqRel>, "not a memory order");  \
    SIMT_PTX_BY_SPACE(MACRO, "acq_rel", SIMT_PTX_ORDERED, __VA_ARGS__)   \
  }

template <Space space, class Order, class T>
SIMT_FN T load(std::uint64_t address) {
  static_assert(std::is_same_v<Order, Relaxed> || std::is_same_v<Order, Acquire>, "a load is relaxed or acquire");
  T result;
  if constexpr (std::is_same_v<Order, Relaxed>) {
    if constexpr (sizeof(T) == 4) {
      SIMT_PTX_BY_SPACE(SIMT_PTX_LOAD, "relaxed", SIMT_PTX_UNORDERED, "u32", "r")
    } else {
      SIMT_PTX_BY_SPACE(SIMT_PTX_LOAD, "relaxed", SIMT_PTX_UNORDERED, "u64", "l")
    }
  } else {
    if constexpr (sizeof(T) == 4) {
      SIMT_PTX_BY_SPACE(SIMT_PTX_LOAD, "acquire", SIMT_PTX_ORDERED, "u32", "r")
    } else {
      SIMT_PTX_BY_SPACE(SIMT_PTX_LOAD, "acquire", SIMT_PTX_ORDERED, "u64", "l")
    }
  }
  return result;
}

template <Space space, class Order, class T>
SIMT_FN void store(std::uint64_t address, T value) {
  static_assert(std::is_same_v<Order, Relaxed> || std::is_same_v<Order, Release>, "a store is relaxed or release");
  if constexpr (std::is_same_v<Order, Relaxed>) {
    if constexpr (sizeof(T) == 4) {
      SIMT_PTX_BY_SPACE(SIMT_PTX_STORE, "relaxed", SIMT_PTX_UNORDERED, "u32", "r")
    } else {
      SIMT_PTX_BY_SPACE(SIMT_PTX_STORE, "relaxed", SIMT_PTX_UNORDERED, "u64", "l")
    }
  } else {
    if constexpr (sizeof(T) == 4) {
      SIMT_PTX_BY_SPACE(SIMT_PTX_STORE, "release", SIMT_PTX_ORDERED, "u32", "r")
    } else {
      SIMT_PTX_BY_SPACE(SIMT_PTX_STORE, "release", SIMT_PTX_ORDERED, "u64", "l")
    }
  }
}

template <Space space, class Order, class T>
SIMT_FN T compare_and_swap(std::uint64_t address, T compare, T value) {
  T result;
  if constexpr (sizeof(T) == 4) {
    SIMT_PTX_BY_RMW_ORDER(SIMT_PTX_CAS, "b32", "r")
  } else {
    SIMT_PTX_BY_RMW_ORDER(SIMT_PTX_CAS, "b64", "l")
  }
  return result;
}

#define SIMT_PTX_DEFINE_RMW(NAME, OP, TYPE32, TYPE64)      \
  template <Space space, class Order, class T>             \
  SIMT_FN T NAME(std::uint64_t address, T value) {         \
    T result;                                              \
    if constexpr (sizeof(T) == 4) {                        \
      SIMT_PTX_BY_RMW_ORDER(SIMT_PTX_RMW, OP, TYPE32, "r") \
    } else {                                               \
      SIMT_PTX_BY_RMW_ORDER(SIMT_PTX_RMW, OP, TYPE64, "l") \
    }                                                      \
    return result;                                         \
  }
SIMT_PTX_DEFINE_RMW(exchange, "exch", "b32", "b64")
SIMT_PTX_DEFINE_RMW(fetch_add, "add", "u32", "u64")
SIMT_PTX_DEFINE_RMW(fetch_or, "or", "b32", "b64")
SIMT_PTX_DEFINE_RMW(fetch_and, "and", "b32", "b64")
SIMT_PTX_DEFINE_RMW(fetch_xor, "xor", "b32", "b64")
SIMT_PTX_DEFINE_RMW(fetch_min, "min", "u32", "u64")
SIMT_PTX_DEFINE_RMW(fetch_max, "max", "u32", "u64")

#undef SIMT_PTX_DEFINE_RMW
#undef SIMT_PTX_BY_RMW_ORDER
#undef SIMT_PTX_BY_SPACE
#undef SIMT_PTX_UNORDERED
#undef SIMT_PTX_ORDERED
#undef SIMT_PTX_CAS
#undef SIMT_PTX_RMW
#undef SIMT_PTX_STORE
#undef SIMT_PTX_LOAD

}  // namespace ptx

// atomic_ref is a reference to a word that several threads use. Obtain it from the thread (`thread.atomic(word)`), so
// that a wrapping thread (CountingThread) can count and the CPU executor can schedule at every access.
template <class T, Space space = Space::global>
class atomic_ref {
  static_assert(std::is_unsigned_v<T> && (sizeof(T) == 4 || sizeof(T) == 8),
                "atomic words are 32 or 64 bits, unsigned");

 public:
  using value_type = T;

  SIMT_FN explicit atomic_ref(T& word) : address_(ptx::address_of<T, space>(&word)) {}

  template <class Order>
  SIMT_FN T load(Order) const {
    return ptx::load<space, Order, T>(address_);
  }
  template <class Order>
  SIMT_FN void store(T value, Order) const {
    ptx::store<space, Order, T>(address_, value);
  }
  template <class Order>
  SIMT_FN T exchange(T value, Order) const {
    return ptx::exchange<space, Order, T>(address_, value);
  }
  template <class Order>
  SIMT_FN T fetch_add(T value, Order) const {
    return ptx::fetch_add<space, Order, T>(address_, value);
  }
  template <class Order>
  SIMT_FN T fetch_sub(T value, Order) const {
    return ptx::fetch_add<space, Order, T>(address_, T{0} - value);
  }
  template <class Order>
  SIMT_FN T fetch_or(T value, Order) const {
    return ptx::fetch_or<space, Order, T>(address_, value);
  }
  template <class Order>
  SIMT_FN T fetch_and(T value, Order) const {
    return ptx::fetch_and<space, Order, T>(address_, value);
  }
  template <class Order>
  SIMT_FN T fetch_xor(T value, Order) const {
    return ptx::fetch_xor<space, Order, T>(address_, value);
  }
  template <class Order>
  SIMT_FN T fetch_min(T value, Order) const {
    return ptx::fetch_min<space, Order, T>(address_, value);
  }
  template <class Order>
  SIMT_FN T fetch_max(T value, Order) const {
    return ptx::fetch_max<space, Order, T>(address_, value);
  }
  // Returns true if `desired` was written. Otherwise `expected` receives the present value. PTX has one order per
  // instruction. So the success order also applies to failures and must be at least as strong as the failure order.
  template <class Success, class Failure>
  SIMT_FN bool compare_exchange(T& expected, T desired, Success, Failure) const {
    static_assert(std::is_same_v<Failure, Relaxed> || std::is_same_v<Failure, Acquire>,
                  "a failed exchange is a load: relaxed or acquire");
    const T found = ptx::compare_and_swap<space, Success, T>(address_, expected, desired);
    const bool won = found == expected;
    expected = found;
    return won;
  }

 private:
  std::uint64_t address_;
};

}  // namespace simt
