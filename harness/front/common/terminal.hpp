// What the terminal allows.
#pragma once

#include <cstddef>
#include <string_view>

namespace allocbench::front {

// stdout is a terminal and NO_COLOR is not set.
bool colours_on_stdout();

// Columns that a text takes: UTF-8 continuation bytes (the µ of µs, the ± sign) take none.
std::size_t printed_width(std::string_view text);

}  // namespace allocbench::front
