// This file completes commands in a shell. The script that `allocbench completion` prints calls `allocbench complete
// WORD...` at every Tab.
#pragma once

#include <string>
#include <vector>

#include "harness/front/cli/command_texts.hpp"

namespace allocbench::front {

// Returns the candidates for the last word, one per line, some with a tab and a description. The lines `<files>` and
// `<folders>` make the shell offer files or folders.
std::string candidates(const CommandText& program, const std::vector<std::string>& words);

// Returns the script for a shell. `shell` is bash, zsh or fish.
std::string completion_script(const std::string& shell);

}  // namespace allocbench::front
