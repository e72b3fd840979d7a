// What the terminal allows.
#pragma once

namespace allocbench::front {

// stdout is a terminal and NO_COLOR is not set.
bool colours_on_stdout();

}  // namespace allocbench::front
