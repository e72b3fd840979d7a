// This file has the texts of the command line as plain structs. Completion scripts and the manual page are made from
// them.
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

namespace allocbench::front {

struct OptionText {
  std::vector<std::string> names;  // -c, --config; empty for a positional argument
  std::string argument;            // name of the value, "FILE" or "auto|cuda|cpu"; empty for a flag
  std::string description;
};

struct CommandText {
  std::string name;
  std::string description;
  std::string footer;
  std::vector<OptionText> options;
  std::vector<OptionText> positionals;
  std::vector<CommandText> verbs;
};

CommandText text_of(const CLI::App& app);

// The kinds of suggestions that a shell makes for an argument.
enum class ArgumentKind { nothing, words, files, folders, verbs, names, groups, configs };
ArgumentKind kind_of(const std::string& argument);
// Returns the words of an argument such as "auto|cuda|cpu", which is of kind `words`.
std::vector<std::string> words_of(const std::string& argument);

}  // namespace allocbench::front
