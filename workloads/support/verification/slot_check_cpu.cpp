#include "workloads/support/verification/slot_check.hpp"

namespace allocbench {

struct SlotCheck::Scratch {};

SlotCheck::SlotCheck() = default;
SlotCheck::~SlotCheck() = default;
SlotCheck::SlotCheck(SlotCheck&&) noexcept = default;
SlotCheck& SlotCheck::operator=(SlotCheck&&) noexcept = default;

// Device memory is host memory here, so the host checks the slots directly.
std::optional<std::uint64_t> SlotCheck::nulls_if_right(simt::Stream&, std::span<const SlotRange>, const PointerRules&,
                                                       PointerCheck::Live) {
  return std::nullopt;
}

std::optional<std::uint64_t> SlotCheck::holding(simt::Stream&, void* const*, std::size_t, const void*) {
  return std::nullopt;
}

}  // namespace allocbench
