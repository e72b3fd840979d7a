// OperationCounts has the counts of a CountingThread (counting.hpp). Both device code and host reports use them.
#pragma once

#include "simt/common.hpp"

namespace simt {

inline constexpr std::uint32_t nothing_noted = 0xffffffffu;

struct OperationCounts {
  std::uint64_t loads = 0;
  std::uint64_t stores = 0;
  std::uint64_t updates = 0;  // read-modify-writes other than compare-exchanges
  std::uint64_t compare_exchanges = 0;
  std::uint64_t lost_exchanges = 0;  // compare-exchanges that found another value
  std::uint64_t steps[static_cast<std::uint32_t>(Step::count_of_steps)] = {};

  SIMT_HOST_FN std::uint64_t operations() const { return loads + stores + read_modify_writes(); }
  SIMT_HOST_FN std::uint64_t read_modify_writes() const { return updates + compare_exchanges; }
};

}  // namespace simt
