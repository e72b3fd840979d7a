// Which expensive cells begin next where the time of a run is limited.
//
// A cell that has only some of its rounds when the time is over has no number. So only as many begin as have time for
// all rounds of a number; the others begin when these are done.
#pragma once

#include <cstddef>
#include <vector>

namespace allocbench::front {

// A cell that is expensive by earlier results and has not begun.
struct ExpensiveCell {
  double seconds = 0;               // of its first round, as earlier results have it; infinity where nobody knows
  bool is_reworked = false;         // a figure of a paper is about the other forms
  bool is_first_of_figure = false;  // its figure has no measured cell yet
};

// The places in `waiting` of those that begin, in this order: of figures without a measured cell, of other forms than
// reworked ones, of reworked ones, and each time the cheapest first. What `seconds_left` has no time for is passed
// over; all begin where it has time for none.
std::vector<std::size_t> admit(const std::vector<ExpensiveCell>& waiting, double seconds_left);

}  // namespace allocbench::front
