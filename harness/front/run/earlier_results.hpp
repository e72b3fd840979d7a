// What earlier results say about the cells of a run, by id. Only the order of cells depends on it.
#pragma once

#include <map>
#include <string>

#include "harness/front/run/trouble_watch.hpp"

namespace allocbench::front {

// Of the first round of a cell, its verification included.
struct ExpectedRound {
  double seconds = 0;  // infinity where an earlier run had no time for it
  std::string reason;  // in words
};

using FirstRounds = std::map<std::string, ExpectedRound>;

struct EarlierResults {
  KnownTroubles troubles;
  FirstRounds first_rounds;  // of cells without troubles
};

}  // namespace allocbench::front
