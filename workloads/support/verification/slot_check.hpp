// Judges recorded pointers where they are, in device memory, so that a million of them cost no copy and no sort on the
// host. Its only verdict is "all right, except for nulls"; otherwise PointerCheck looks at them on the host and says
// what is wrong.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "simt/simt.hpp"
#include "workloads/support/requests/request_sizes.hpp"
#include "workloads/support/verification/pointer_check.hpp"

namespace allocbench {

// Slots in device memory, and what they are for.
struct SlotRange {
  void* const* slots = nullptr;
  std::size_t count = 0;
  AnySize sizes = {};
  std::size_t period = 1;                    // slot i is for sizes[i % period] bytes
  const std::uint8_t* takes_part = nullptr;  // where given, only slots of callers with a flag are judged
  std::size_t callers = 1;                   // slot i belongs to caller i % callers
  std::uint64_t mark = 0;                    // where given, slots that hold it or their poison are not judged
};

class SlotCheck {
 public:
  SlotCheck();
  ~SlotCheck();
  SlotCheck(SlotCheck&&) noexcept;
  SlotCheck& operator=(SlotCheck&&) noexcept;

  // The nulls of all ranges together, when every other slot holds a right pointer. Nothing when one may be wrong, or
  // where the back end leaves it to the host. Waits for the kernels before.
  std::optional<std::uint64_t> nulls_if_right(simt::Stream& stream, std::span<const SlotRange> ranges,
                                              const PointerRules& rules, PointerCheck::Live live);
  // The slots that hold this address. Nothing where the back end leaves counting to the host.
  std::optional<std::uint64_t> holding(simt::Stream& stream, void* const* slots, std::size_t count,
                                       const void* address);

 private:
  struct Scratch;
  std::unique_ptr<Scratch> scratch_;
};

}  // namespace allocbench
