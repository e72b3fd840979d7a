// Reading a whole text file that a user named.
#pragma once

#include <cstdint>
#include <string>

namespace allocbench::front {

// Unpacks what ends in .gz or .xz; the limit holds for the unpacked text.
//
// `what` names the file in complaints: "The config". Throws UsageError for files that are missing, unreadable, larger
// than the limit, or not regular: a pipe, a device or a folder would never end or never begin.
std::string read_text_file(const std::string& path, const std::string& what, std::uint64_t limit_bytes);

}  // namespace allocbench::front
