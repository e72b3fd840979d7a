#include "simt/cpu/diagnosis.hpp"

#include <cinttypes>
#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace simt {
namespace {

[[gnu::format(printf, 1, 2)]] std::string format(const char* pattern, ...) {
  char text[256];
  va_list arguments;
  va_start(arguments, pattern);
  std::vsnprintf(text, sizeof text, pattern, arguments);
  va_end(arguments);
  return text;
}

const char* state_name(LaneState state) {
  switch (state) {
    case LaneState::runnable:
      return "runnable";
    case LaneState::gathering:
      return "gathering";
    case LaneState::waiting:
      return "waiting";
    case LaneState::at_barrier:
      return "barrier";
    case LaneState::parked:
      return "spinning";
    case LaneState::exited:
      return "exited";
  }
  return "?";
}

}  // namespace

const char* operation_name(Operation operation) {
  static constexpr const char* names[] = {
      "-",   "atomic", "held_store", "spin_hint", "device_heap", "converged",  "sync",          "ballot",
      "any", "all",    "shfl",       "match_any", "reduce_add",  "reduce_max", "exclusive_sum", "block_barrier"};
  return names[static_cast<std::size_t>(operation)];
}

std::string site_text(const CallSite& site) {
  const char* slash = std::strrchr(site.file, '/');
  return std::string(slash == nullptr ? site.file : slash + 1) + ":" + std::to_string(site.line);
}

std::string call_text(const Lane& lane) {
  return format("%s(mask 0x%08" PRIx32 ") at ", operation_name(lane.operation), lane.mask) + site_text(lane.site);
}

std::string warp_name(const Warp& warp) {
  return "block " + std::to_string(warp.block->index) + ", warp " + std::to_string(warp.index);
}

std::string lane_name(const Lane& lane) {
  return "lane " + std::to_string(lane.index) + " of " + warp_name(*lane.warp);
}

std::string lane_table(const Warp& warp) {
  std::string text = warp_name(warp) + ":\n  lane  state      operation      mask        call site\n";
  for (std::uint32_t index = 0; index < warp_size; ++index) {
    if ((warp.present & (LaneMask{1} << index)) == 0) {
      // Absent lanes are always the last lanes of a partial warp.
      text += format("  %2" PRIu32 "-%-2" PRIu32 " absent\n", index, warp_size - 1);
      break;
    }
    const Lane& lane = warp.lanes[index];
    if (lane.state == LaneState::exited) {
      text += format("  %4" PRIu32 "  exited\n", index);
      continue;
    }
    const bool started = lane.operation != Operation::none;
    const bool in_group = lane.state == LaneState::waiting || lane.operation >= Operation::sync;
    const std::string mask =
        in_group && lane.operation != Operation::block_barrier ? format("0x%08" PRIx32, lane.mask) : std::string("-");
    text += format("  %4" PRIu32 "  %-9s  %-13s  %-10s  %s", index, state_name(lane.state),
                   operation_name(lane.operation), mask.c_str(), started ? site_text(lane.site).c_str() : "-");
    if (lane.state == LaneState::parked) {
      for (const SpinWatch::Word& word : lane.watch) {
        text += format("  [%p] = 0x%" PRIx64, word.address, word.value);
      }
    }
    text += '\n';
  }
  return text;
}

std::string live_warps(const Block& block) {
  std::string text;
  for (const Warp& warp : block.warps) {
    if ((warp.present & ~warp.exited) != 0) text += lane_table(warp);
  }
  return text;
}

std::string history_row(const HistoryEntry& entry) {
  std::string effect;
  if (entry.note != nullptr) {
    effect = entry.note + (entry.address == nullptr ? "" : format(" [%p]", entry.address)) +
             format(" 0x%" PRIx64, entry.after);
  } else if (entry.bytes != 0 && entry.before != entry.after) {
    effect = format("[%p] 0x%" PRIx64 " -> 0x%" PRIx64, entry.address, entry.before, entry.after);
  } else if (entry.bytes != 0) {
    effect = format("[%p] = 0x%" PRIx64, entry.address, entry.after);
  } else if (entry.operation == Operation::converged) {
    effect = format("gives 0x%08" PRIx64, entry.before);
  } else if (entry.operation > Operation::converged && entry.operation != Operation::block_barrier) {
    effect = format("0x%08" PRIx64 " gives 0x%" PRIx64, entry.before, entry.after);
  }
  return format("%6" PRIu32 "  %6" PRIu64 "  %6" PRIu64 "  %-13s  %-42s  ", entry.launch, entry.step, entry.lane,
                operation_name(entry.operation), effect.c_str()) +
         site_text(entry.site) + "\n";
}

}  // namespace simt
