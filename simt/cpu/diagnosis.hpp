// These functions write texts about lanes, such as their names in headlines and a table of the lanes of a warp.
#pragma once

#include <string>

#include "simt/cpu/history.hpp"
#include "simt/cpu/lane.hpp"

namespace simt {

const char* operation_name(Operation operation);
std::string site_text(const CallSite& site);  // for example "file.hpp:12"
std::string call_text(const Lane& lane);      // for example "ballot(mask 0x000000ff) at file.hpp:12"
std::string warp_name(const Warp& warp);      // for example "block 3, warp 0"
std::string lane_name(const Lane& lane);      // for example "lane 5 of block 3, warp 0"

// Returns one row per lane: lane, state, operation, mask, call site and, for parked lanes, the words that they watch.
// The absent lanes of a partial warp share one row.
std::string lane_table(const Warp& warp);
// Returns the tables of the block's warps in which at least one lane has not exited.
std::string live_warps(const Block& block);
// Returns the row of an entry in the table of history_text().
std::string history_row(const HistoryEntry& entry);

}  // namespace simt
