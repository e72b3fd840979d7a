// philox_words() is random_words() (workloads/support/random/random.hpp) for kernels. Only kernels that make large
// inputs on the device may use it. Timed kernels must not.
#pragma once

#include <Random123/philox.h>

#include "simt/common.hpp"
#include "workloads/support/random/random.hpp"

namespace allocbench {

SIMT_HOST_FN RandomWords philox_words(std::uint64_t seed, RandomStream stream, std::uint64_t index,
                                      std::uint32_t sub_index = 0) {
  const r123::Philox4x32::ctr_type counter{{static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32),
                                            sub_index, static_cast<std::uint32_t>(stream)}};
  const r123::Philox4x32::key_type key{{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}};
  const r123::Philox4x32::ctr_type result = r123::Philox4x32{}(counter, key);
  return {{result[0], result[1], result[2], result[3]}};
}

}  // namespace allocbench
