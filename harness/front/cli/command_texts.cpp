#include "harness/front/cli/command_texts.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <sstream>

namespace allocbench::front {
namespace {

OptionText text_of(const CLI::Option& option) {
  OptionText text;
  for (const std::string& name : option.get_snames()) text.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) text.names.push_back("--" + name);
  // The name of the type may also contain the text of a validator, after a colon.
  const std::string type = option.get_type_name();
  if (option.get_expected_max() > 0) text.argument = type.substr(0, type.find(':'));
  text.description = option.get_description();
  return text;
}

}  // namespace

CommandText text_of(const CLI::App& app) {
  CommandText text{app.get_name(), app.get_description(), app.get_footer(), {}, {}, {}};
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;  // hidden options have no group
    OptionText each = text_of(*option);
    const bool positional = option->get_positional();
    if (!each.names.empty()) text.options.push_back(each);
    if (!positional) continue;
    each.names.clear();
    text.positionals.push_back(each);
  }
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
    text.verbs.push_back(text_of(*verb));
  }
  return text;
}

ArgumentKind kind_of(const std::string& argument) {
  const auto has = [&](const char* word) { return argument.find(word) != std::string::npos; };
  if (argument.empty()) return ArgumentKind::nothing;
  if (std::none_of(argument.begin(), argument.end(),
                   [](char letter) { return std::isupper(static_cast<unsigned char>(letter)) != 0; })) {
    return ArgumentKind::words;
  }
  if (has("FILE") || has("PATH")) return ArgumentKind::files;
  if (has("DIR")) return ArgumentKind::folders;
  if (argument == "COMMAND") return ArgumentKind::verbs;
  if (argument == "NAME") return ArgumentKind::names;
  if (argument == "CONFIG") return ArgumentKind::configs;
  return argument == "GROUP" ? ArgumentKind::groups : ArgumentKind::nothing;
}

std::vector<std::string> words_of(const std::string& argument) {
  std::vector<std::string> words;
  std::istringstream stream(argument);
  for (std::string word; std::getline(stream, word, '|');) words.push_back(word);
  return words;
}

}  // namespace allocbench::front
