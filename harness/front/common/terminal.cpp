#include "harness/front/common/terminal.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace allocbench::front {
namespace {

bool colours_on(int descriptor) {
  const char* no_colour = std::getenv("NO_COLOR");
  return isatty(descriptor) == 1 && (no_colour == nullptr || *no_colour == '\0');
}

std::size_t columns_of(int descriptor) {
  winsize size{};
  if (isatty(descriptor) != 1 || ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

}  // namespace

bool colours_on_stdout() { return colours_on(STDOUT_FILENO); }
bool colours_on_stderr() { return colours_on(STDERR_FILENO); }

std::size_t columns_of_stdout() { return columns_of(STDOUT_FILENO); }
std::size_t columns_of_stderr() { return columns_of(STDERR_FILENO); }

std::string folded(std::string_view text, std::size_t columns, std::size_t indent) {
  constexpr std::size_t least_room = 8;  // in a narrower terminal, lines are too long
  std::string lines;
  std::size_t room = columns;
  while (printed_width(text) > room) {
    std::size_t end = room;
    while (end > room / 2 && text[end] != ' ' && text[end] != '/') --end;
    if (end == room / 2) end = room;
    lines += fmt::format("{}\n{}", text.substr(0, end), std::string(indent, ' '));
    text.remove_prefix(text[end] == ' ' ? end + 1 : end);
    room = std::max(columns, indent + least_room) - indent;
  }
  return lines + std::string(text) + "\n";
}

std::size_t printed_width(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char letter) { return (letter & 0xC0) != 0x80; }));
}

}  // namespace allocbench::front
