// Reading a whole text file that a user named.
#pragma once

#include <cstdint>
#include <string>

namespace allocbench::front {

// Unpacks files that end with .gz or .xz. The limit applies to the unpacked text.
//
// `what` is the name of the file in errors: "The config". Throws UsageError for files that are missing, unreadable,
// larger than the limit, or not regular, because reading a pipe, a device or a folder might never end or never begin.
std::string read_text_file(const std::string& path, const std::string& what, std::uint64_t limit_bytes);

}  // namespace allocbench::front
