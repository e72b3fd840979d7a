#include "harness/front/common/terminal.hpp"

#include <unistd.h>

#include <cstdlib>

namespace allocbench::front {

bool colours_on_stdout() {
  const char* no_colour = std::getenv("NO_COLOR");
  return isatty(STDOUT_FILENO) == 1 && (no_colour == nullptr || *no_colour == '\0');
}

}  // namespace allocbench::front
