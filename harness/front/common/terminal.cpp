#include "harness/front/common/terminal.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace allocbench::front {

bool colours_on_stdout() {
  const char* no_colour = std::getenv("NO_COLOR");
  return isatty(STDOUT_FILENO) == 1 && (no_colour == nullptr || *no_colour == '\0');
}

std::size_t printed_width(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char letter) { return (letter & 0xC0) != 0x80; }));
}

}  // namespace allocbench::front
