// This file reads and prints quantities. Files of results contain base units (seconds, bytes). Only texts for people
// use scaled units.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace allocbench::front {

// Reads "4096", "64KiB", "2 GiB" or "1.5MiB". Returns nullopt for any other text, for fractions of a byte and for
// more than 2^53 bytes. KB, MB and GB are refused, because they are powers of two in papers and powers of ten in
// standards.
std::optional<std::uint64_t> parse_bytes(std::string_view text);

// Returns a suggestion for a refused text: "64MiB" for "64MB", "64 mb" or "64M". Returns an empty text if there is
// none.
std::string nearest_size(std::string_view text);

// Returns the shortest exact form: 65536 -> "64 KiB", 1000 -> "1000 B".
std::string format_bytes(std::uint64_t bytes);

// Returns a size for people, with three significant digits: 85520809984 -> "79.6 GiB", 5 -> "5 B".
std::string format_memory(std::uint64_t bytes);

// Returns a text such as "1 cell", "2 batches" or "3 series".
std::string counted(std::uint64_t count, std::string_view noun);
// Returns the verb after a number: "is" or "are".
std::string_view is_or_are(std::uint64_t count);

// Returns a time from 1 ns to 1000 s with three significant digits, in s, ms, µs or ns: 0.00123 -> "1.23 ms".
std::string format_seconds(double seconds);

// Returns a text such as "1.25 Gop/s".
std::string format_rate(double operations_per_second);

// Returns a duration for people: "45 s", "3 min 20 s" or "2 h 05 min".
std::string format_duration(double seconds);
// Returns a limit as the user gave it, such as "1.5 s" or "0.02 s". A limit of a minute or more is printed as a
// duration.
std::string format_limit(double seconds);

}  // namespace allocbench::front
