// This file reads a whole text file that a user named, and writes text files.
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

// Writes the text into a new file, which then gets the name. So readers see the old file or the new one. Throws
// EnvironmentError if this is not possible.
void write_text_file(const std::string& path, const std::string& text);

// Creates the folder and those above it, unless it exists. Throws EnvironmentError if this is not possible.
void create_folder(const std::string& folder);

// Creates the folder and checks that files can be written in it. Throws EnvironmentError if this is not possible.
void require_writable_folder(const std::string& folder);

}  // namespace allocbench::front
