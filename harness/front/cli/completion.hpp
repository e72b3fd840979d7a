// Scripts that complete commands and options of `allocbench` in a shell.
#pragma once

#include <string>

#include "harness/front/cli/command_texts.hpp"

namespace allocbench::front {

// `shell` is bash, zsh or fish.
std::string completion_script(const CommandText& program, const std::string& shell);

}  // namespace allocbench::front
