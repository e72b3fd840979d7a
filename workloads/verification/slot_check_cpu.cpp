#include "workloads/verification/slot_check.hpp"

namespace allocbench {

struct SlotCheck::Scratch {};

SlotCheck::SlotCheck() = default;
SlotCheck::~SlotCheck() = default;
SlotCheck::SlotCheck(SlotCheck&&) noexcept = default;
SlotCheck& SlotCheck::operator=(SlotCheck&&) noexcept = default;

// Device memory is the host's here.
bool SlotCheck::all_right(simt::Stream&, void* const*, std::size_t, AnySize, std::size_t, const PointerRules&,
                          PointerCheck::Live) {
  return false;
}

std::optional<std::uint64_t> SlotCheck::nulls(simt::Stream&, void* const*, std::size_t) { return std::nullopt; }

}  // namespace allocbench
