// This file reads a whole text file that a user named.
#pragma once

#include <cstdint>
#include <string>

namespace allocbench::front {

// Returns the text. Files that end with .gz or .xz are unpacked, and the limit also applies to the unpacked text.
// `what` is the name of the file in errors, such as "The config".
//
// Throws UsageError for files that are missing, unreadable, damaged, larger than the limit, or not regular. Reading a
// pipe or a device might never begin or never end.
std::string read_text_file(const std::string& path, const std::string& what, std::uint64_t limit_bytes);

}  // namespace allocbench::front
