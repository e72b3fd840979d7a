// Texts about lanes: their names in headlines, and the 32-lane table below.
#pragma once

#include <string>

#include "simt/cpu/history.hpp"
#include "simt/cpu/lane.hpp"

namespace simt {

const char* operation_name(Operation operation);
std::string site_text(const CallSite& site);  // "file.hpp:12"
std::string call_text(const Lane& lane);      // "ballot(mask 0x000000ff) at file.hpp:12"
std::string warp_name(const Warp& warp);      // "block 3, warp 0"
std::string lane_name(const Lane& lane);      // "lane 5 of block 3, warp 0"

// One row per lane: lane, state, operation, mask, call site and, for parked lanes, the words they watch.
std::string lane_table(const Warp& warp);
// The tables of all warps of the block with lanes that have not exited.
std::string live_warps(const Block& block);
// The row of a table whose head history_text() writes.
std::string history_row(const HistoryEntry& entry);

}  // namespace simt
