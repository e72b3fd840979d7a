// Completion in a shell: its script asks `allocbench complete WORD...` at every Tab.
#pragma once

#include <string>
#include <vector>

#include "harness/front/cli/command_texts.hpp"

namespace allocbench::front {

// What may stand for the last of the words behind the program: one a line, some with a tab and a description. `<files>`
// and
// `<folders>` stand for those that the shell finds.
std::string candidates(const CommandText& program, const std::vector<std::string>& words);

// `shell` is bash, zsh or fish.
std::string completion_script(const std::string& shell);

}  // namespace allocbench::front
