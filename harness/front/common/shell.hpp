// Words of the commands that the program prints: a user pastes them into a shell.
#pragma once

#include <string>

namespace allocbench::front {

// The word as a shell reads it back: in single quotes unless every letter of it is plain.
std::string quoted(const std::string& word);

}  // namespace allocbench::front
