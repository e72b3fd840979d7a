// Text for the user. Lost output does not end the program: results come first, and `lost_output()` says so at the end.
#pragma once

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace allocbench::front {

void put_on_stdout(std::string_view text);
// Behind what stdout got so far.
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

// The errno of what was lost on stdout or stderr; 0: nothing was. A reader that has left (`| head`) wants no more
// output, so nothing is lost.
int lost_output();

}  // namespace allocbench::front
