// SlotCheck checks recorded pointers in device memory, so that a million pointers need no copy and no sort on the host.
// The only verdict is "all correct, apart from nulls". If SlotCheck cannot give this verdict, PointerCheck checks the
// pointers on the host and reports the mistakes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "simt/simt.hpp"
#include "workloads/support/requests/request_sizes.hpp"
#include "workloads/support/verification/pointer_check.hpp"

namespace allocbench {

// Slots in device memory, with the sizes and callers of their blocks.
struct SlotRange {
  void* const* slots = nullptr;
  std::size_t count = 0;
  AnySize sizes = {};
  std::size_t period = 1;                    // slot i is for sizes[i % period] bytes
  const std::uint8_t* takes_part = nullptr;  // flag per caller, or null; slots of callers with flag 0 are not checked
  std::size_t callers = 1;                   // slot i belongs to caller i % callers
  std::uint64_t mark = 0;  // value that marks unchecked slots, as the poison does; 0: all slots are checked
};

class SlotCheck {
 public:
  SlotCheck();
  ~SlotCheck();
  SlotCheck(SlotCheck&&) noexcept;
  SlotCheck& operator=(SlotCheck&&) noexcept;

  // Returns the number of nulls of all ranges if every other slot has a correct pointer. Returns nothing if a pointer
  // may be wrong. Also returns nothing if the host must check: on the CPU back end, for no slots or more than 2^31 - 1
  // slots, and if device memory is short. Waits for earlier kernels.
  std::optional<std::uint64_t> nulls_if_right(simt::Stream& stream, std::span<const SlotRange> ranges,
                                              const PointerRules& rules, PointerCheck::Live live);
  // Returns the number of slots with this address, or nothing if the back end leaves counting to the host.
  std::optional<std::uint64_t> holding(simt::Stream& stream, void* const* slots, std::size_t count,
                                       const void* address);

 private:
  struct Scratch;
  std::unique_ptr<Scratch> scratch_;
};

}  // namespace allocbench
