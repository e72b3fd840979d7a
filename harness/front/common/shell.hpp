// These functions quote the words of printed commands, which users paste into a shell.
#pragma once

#include <string>
#include <vector>

namespace allocbench::front {

// Returns the word with the quotes that a shell needs: single quotes unless all its characters are plain.
std::string quoted(const std::string& word);
// Returns the words of a command, quoted and separated by blanks.
std::string quoted(const std::vector<std::string>& words);

}  // namespace allocbench::front
