// Judges recorded pointers where they are, in device memory, so that a million of them cost no copy and no sort on the
// host. It only knows "all right": otherwise PointerCheck looks at them on the host and says what is wrong.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "simt/simt.hpp"
#include "workloads/common/request_sizes.hpp"
#include "workloads/verification/pointer_check.hpp"

namespace allocbench {

class SlotCheck {
 public:
  SlotCheck();
  ~SlotCheck();
  SlotCheck(SlotCheck&&) noexcept;
  SlotCheck& operator=(SlotCheck&&) noexcept;

  // True when every slot holds a right pointer and none is null; slot i is for sizes[i % period] bytes. False says
  // nothing: one may be wrong, or the back end leaves it to the host. Waits for the kernels before.
  bool all_right(simt::Stream& stream, void* const* slots, std::size_t count, AnySize sizes, std::size_t period,
                 const PointerRules& rules, PointerCheck::Live live);
  // The nulls among the slots. Nothing where the back end leaves counting to the host.
  std::optional<std::uint64_t> nulls(simt::Stream& stream, void* const* slots, std::size_t count);

 private:
  struct Scratch;
  std::unique_ptr<Scratch> scratch_;
};

}  // namespace allocbench
