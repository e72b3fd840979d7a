// These functions find properties of the terminal and fit text to its width.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace allocbench::front {

// Returns whether the stream is a terminal and NO_COLOR is unset or empty.
bool colours_on_stdout();
bool colours_on_stderr();

// Returns the width of the terminal at the stream, or 80 if the stream is not a terminal or the width is unknown.
std::size_t columns_of_stdout();
std::size_t columns_of_stderr();

// Breaks the text at blanks and slashes, and long words anywhere. Lines after the first are indented. Adds a newline at
// the end.
std::string folded(std::string_view text, std::size_t columns, std::size_t indent);

// Returns the columns that a text takes. UTF-8 continuation bytes (as in the µ of µs and the ± sign) take none.
std::size_t printed_width(std::string_view text);

}  // namespace allocbench::front
