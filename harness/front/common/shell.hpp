// This function quotes the words of printed commands, which users paste into a shell.
#pragma once

#include <string>

namespace allocbench::front {

// Returns the word with the quotes that a shell needs: single quotes unless all its characters are plain.
std::string quoted(const std::string& word);

}  // namespace allocbench::front
