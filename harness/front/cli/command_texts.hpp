// The texts of the command line as plain structs, from which completion scripts and the manual page are made.
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

namespace allocbench::front {

struct OptionText {
  std::vector<std::string> names;  // -c, --config; empty for a positional argument
  std::string argument;            // its value, "FILE" or "auto|cuda|cpu"; empty for a flag
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

// The suggestions of a shell for an argument.
enum class ArgumentKind { nothing, words, files, folders, verbs, names, groups, configs };
ArgumentKind kind_of(const std::string& argument);
// "auto|cuda|cpu": the words of ArgumentKind::words.
std::vector<std::string> words_of(const std::string& argument);

}  // namespace allocbench::front
