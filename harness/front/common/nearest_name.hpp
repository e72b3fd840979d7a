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

// Returns the closest name or, if no name is close, the name that begins with `found`. Otherwise returns an empty text,
// because a wrong suggestion is worse than none. Of several such names one must be the beginning of the others.
std::string nearest_name(std::string_view found, const std::vector<std::string>& valid);

// Returns the existing folder with the nearest names, part by part. Returns an empty text if a part has no near name.
std::string nearest_folder(const std::string& folder);

}  // namespace allocbench::front
