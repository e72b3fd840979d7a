// PageParameters are the parameters of the random-walk allocators. vain_probes() computes the limit that ends a walk
// (Pham et al. 2025, section 3).
#pragma once

#include <algorithm>
#include <cmath>
#include <tuple>

#include "allocators/support/contract/parameters.hpp"

namespace allocbench::random_walk {

struct PageParameters {
  std::uint64_t page_bytes = 256;
  double scarce_share = 0.005;
  std::uint32_t seed = 0;

  static auto fields();
};

// Returns the fields of PageParameters as fields of P, which is PageParameters or derives from it. A derived struct
// appends its own fields with std::tuple_cat.
template <class P>
auto page_fields() {
  const auto member = []<class T>(T PageParameters::*base) -> T P::* { return base; };
  return std::tuple{
      Field{"page_bytes", member(&PageParameters::page_bytes), "B", "bytes of a page",
            "sec. 5.2: 256 B; 4 to 1024 B gave the same times"}
          .between(16, 1 << 26)
          .powers_of_two(),
      Field{"scarce_share", member(&PageParameters::scarce_share), "fraction",
            "null is returned after so many failed probes that less than this share of the pages must be free (99 % "
            "confidence); 0: the search never gives up",
            "sec. 3.2.3: 0.5 %"}
          .between(0, 1),
      Field{"seed", member(&PageParameters::seed), "", "key of the random numbers",
            "assumed: the paper names no generator"}
          .between(0, 0xffffffffu)};
}

inline auto PageParameters::fields() { return page_fields<PageParameters>(); }

// Returns how many pages in a row a walk must find in use to conclude that less than `scarce_share` of all pages is
// free. With 1 % false alarms, this is z^2 (1 - L) / L with z = 2.326 and the share L (section 3.2.3; 1,076 for L = 0.5
// %). For a share of 0 it is 2^32 - 1, so that a walk hardly ever gives up. Otherwise it is at most 32 per page of the
// pool. This suffices, because so many probes miss a given free page with a probability below e^-32.
inline std::uint32_t vain_probes(double scarce_share, std::uint32_t pages) {
  constexpr double z = 2.32635;
  constexpr double never = 0xffffffffu;
  if (scarce_share <= 0) return 0xffffffffu;
  const double probes = std::fmin(z * z * (1 - scarce_share) / scarce_share, 32.0 * pages);
  return static_cast<std::uint32_t>(std::fmin(std::fmax(probes, 1), never));
}

// Returns the limit for probes of whole words, which have `word_pages` pages each. For shares above 0, this limit is at
// most 32 per word.
inline std::uint32_t vain_word_probes(double scarce_share, std::uint32_t words, std::uint32_t word_pages = 32) {
  if (scarce_share <= 0) return 0xffffffffu;
  return std::min((vain_probes(scarce_share, 0xffffffffu) - 1) / word_pages + 1, vain_probes(scarce_share, words));
}

}  // namespace allocbench::random_walk
