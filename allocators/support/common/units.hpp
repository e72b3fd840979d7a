// Threads take units from a counter by additions. A thread subtracts the wanted number and adds back the units that
// were not available.
//
// In a compare-exchange loop, only one thread would succeed per round trip to the second-level cache. Additions have a
// disadvantage: Until a taker has added back the missing units, the counter is too low, possibly negative, and hides
// units that other threads return. So a count of zero or less does not prove that there are no units. A taker that
// added units back must check again before it gives up. Then the last of several takers sees the true count. The
// counter orders no memory, so the hand-over of units needs its own release and acquire.
#pragma once

#include <type_traits>

#include "simt/simt.hpp"

namespace allocbench {

// Takes up to `wanted` units and returns how many. `units` is in two's complement and has 32 or 64 bits.
template <class Thread, class Word>
SIMT_FN std::uint32_t take_units(Thread& thread, Word& units, std::uint32_t wanted) {
  using Signed = std::make_signed_t<Word>;
  const auto word = thread.atomic(units);
  const auto before = static_cast<Signed>(word.fetch_sub(wanted, simt::relaxed));
  if (before >= static_cast<Signed>(wanted)) return wanted;
  const std::uint32_t granted = before > 0 ? static_cast<std::uint32_t>(before) : 0;
  thread.probe(simt::Step::retry);
  word.fetch_add(wanted - granted, simt::relaxed);
  return granted;
}

// Takes up to `wanted` units and returns how many, for callers that do not expect a unit. If the word shows no unit,
// the load avoids two additions that would delay other threads.
template <class Thread, class Word>
SIMT_FN std::uint32_t take_units_if_any(Thread& thread, Word& units, std::uint32_t wanted) {
  if (static_cast<std::make_signed_t<Word>>(thread.atomic(units).load(simt::relaxed)) <= 0) return 0;
  return take_units(thread, units, wanted);
}

}  // namespace allocbench
