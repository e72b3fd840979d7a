// This file finds the valid name that is closest to a mistyped one ("did you mean").
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace allocbench::front {

// Returns the least number of insertions, deletions, substitutions and swaps of neighbours that turn one text into the
// other, if no part of the text is changed twice.
std::size_t edit_distance(std::string_view a, std::string_view b);

// Returns the closest name. Returns an empty text if no name is close, because a wrong suggestion is worse than none.
std::string nearest_name(std::string_view found, const std::vector<std::string>& valid);

}  // namespace allocbench::front
