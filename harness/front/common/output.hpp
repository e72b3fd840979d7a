// These functions print output for the user. If output cannot be written, the program continues, because results are
// more important. lost_output() reports the loss at the end.
#pragma once

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace allocbench::front {

void put_on_stdout(std::string_view text);
// Prints to stderr after flushing stdout.
void put_on_stderr(std::string_view text);

// Prints on stdout.
template <class... Values>
void show(fmt::format_string<Values...> format, Values&&... values) {
  put_on_stdout(fmt::format(format, std::forward<Values>(values)...));
}

// Prints on stderr.
template <class... Values>
void tell(fmt::format_string<Values...> format, Values&&... values) {
  put_on_stderr(fmt::format(format, std::forward<Values>(values)...));
}

// Returns the errno of the first lost output on stdout or stderr, or 0. Output to a reader that has ended (`| head`)
// does not count as lost.
int lost_output();

}  // namespace allocbench::front
