// Completion in a shell: its script asks `allocbench complete WORD...` at every Tab.
#pragma once

#include <string>
#include <vector>

#include "harness/front/cli/command_texts.hpp"

namespace allocbench::front {

// What the shell may put in place of the last word behind the program: one a line, some with a tab and a description.
// The lines `<files>` and `<folders>` ask the shell for its own.
std::string candidates(const CommandText& program, const std::vector<std::string>& words);

// `shell` is bash, zsh or fish.
std::string completion_script(const std::string& shell);

}  // namespace allocbench::front
