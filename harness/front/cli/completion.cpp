#include "harness/front/cli/completion.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace allocbench::front {
namespace {

std::vector<std::string> names_of(const std::vector<CommandText>& verbs) {
  std::vector<std::string> names;
  for (const CommandText& verb : verbs) names.push_back(verb.name);
  return names;
}

// The program without a verb, then every verb.
std::vector<const CommandText*> commands_of(const CommandText& program) {
  std::vector<const CommandText*> commands = {&program};
  for (const CommandText& verb : program.verbs) commands.push_back(&verb);
  return commands;
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) {
    text.replace(at, what.size(), by);
  }
  return text;
}

// The first sentence is enough beside a name.
std::string short_text(const std::string& description) {
  return replaced(description.substr(0, description.find(". ")), "\n", " ");
}

// `{}` is the program as the reader typed it, which need not be in PATH.
constexpr const char* list_of_names = "$({} list --names 2>/dev/null)";
// Without cd: fish has no subshells.
constexpr const char* list_of_configs =
    "$(find configs -mindepth 2 -name '*.json' -not -path 'configs/schema/*' 2>/dev/null"
    " | sed 's#^configs/##; s/[.]json$//')";
constexpr const char* list_of_groups =
    "$(find configs -mindepth 1 -maxdepth 1 -type d -not -name schema 2>/dev/null | sed 's#^configs/##') papers survey";

// Of a verb that another program reads, that program alone knows the options.
bool is_passed_on(const CommandText& command) { return command.options.empty(); }

std::string list_of_options(const CommandText& command, const char* program) {
  return fmt::format("$({} {} --help 2>/dev/null | grep -o -- '--[a-z][a-z-]*' | sort -u)", program, command.name);
}

// --- bash

constexpr const char* bash_program = "\"$program\"";

std::string bash_words(const std::string& words) {
  return fmt::format("COMPREPLY+=($(compgen -W \"{}\" -- \"$word\"))", words);
}

std::string bash_action(const CommandText& program, const std::string& argument) {
  switch (kind_of(argument)) {
    case ArgumentKind::words:
      return bash_words(fmt::format("{}", fmt::join(words_of(argument), " ")));
    case ArgumentKind::files:
      return "compopt -o filenames; COMPREPLY+=($(compgen -f -- \"$word\"))";
    case ArgumentKind::folders:
      return "compopt -o filenames; COMPREPLY+=($(compgen -d -- \"$word\"))";
    case ArgumentKind::verbs:
      return bash_words(fmt::format("{}", fmt::join(names_of(program.verbs), " ")));
    case ArgumentKind::names:
      return bash_words(fmt::format(list_of_names, bash_program));
    case ArgumentKind::groups:
      return bash_words(list_of_groups);
    case ArgumentKind::configs:
      return bash_words(list_of_configs);
    case ArgumentKind::nothing:
      break;
  }
  return ":";
}

std::string bash_script(const CommandText& program) {
  std::string arguments, options, positionals;
  for (const CommandText* command : commands_of(program)) {
    const std::string verb = command == &program ? "" : command->name;
    std::vector<std::string> names;
    for (const OptionText& option : command->options) {
      names.insert(names.end(), option.names.begin(), option.names.end());
      if (option.argument.empty()) continue;
      std::vector<std::string> patterns;
      for (const std::string& name : option.names) patterns.push_back(verb + ":" + name);
      arguments +=
          fmt::format("    {}) {}; return ;;\n", fmt::join(patterns, "|"), bash_action(program, option.argument));
    }
    const std::string offered =
        is_passed_on(*command) ? list_of_options(*command, bash_program) : fmt::format("{}", fmt::join(names, " "));
    options += fmt::format("      '{}') {} ;;\n", verb, bash_words(offered));
    std::string action = verb.empty() ? bash_words(fmt::format("{}", fmt::join(names_of(program.verbs), " "))) : ":";
    for (const OptionText& each : command->positionals) action += "; " + bash_action(program, each.argument);
    positionals += fmt::format("    '{}') {} ;;\n", verb, action);
  }
  return fmt::format(R"(# Completion of allocbench for bash, made by `allocbench completion bash`.
_allocbench() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} last=${{COMP_WORDS[COMP_CWORD-1]}} program=${{COMP_WORDS[0]/#\~/$HOME}} verb= i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${{COMP_WORDS[i]}} in
      {}) verb=${{COMP_WORDS[i]}}; break ;;
    esac
  done
  case $verb:$last in
{}  esac
  if [[ $word == -* ]]; then
    case $verb in
{}    esac
    return
  fi
  case $verb in
{}  esac
}}
complete -F _allocbench allocbench
)",
                     fmt::join(names_of(program.verbs), "|"), arguments, options, positionals);
}

// --- zsh

constexpr const char* zsh_program = "$program";

std::string zsh_quoted(std::string text) {
  text = replaced(std::move(text), "'", "'\\''");
  for (const char* special : {"[", "]", ":"}) text = replaced(std::move(text), special, std::string("\\") + special);
  return text;
}

std::string zsh_action(const CommandText& program, const std::string& argument) {
  switch (kind_of(argument)) {
    case ArgumentKind::words:
      return fmt::format("({})", fmt::join(words_of(argument), " "));
    case ArgumentKind::files:
      return "_files";
    case ArgumentKind::folders:
      return "_files -/";
    case ArgumentKind::verbs:
      return fmt::format("({})", fmt::join(names_of(program.verbs), " "));
    case ArgumentKind::names:
      return fmt::format("{{compadd -- {}}}", fmt::format(list_of_names, zsh_program));
    case ArgumentKind::groups:
      return fmt::format("{{compadd -- {}}}", replaced(list_of_groups, "'", "'\\''"));
    case ArgumentKind::configs:
      return fmt::format("{{compadd -- {}}}", replaced(list_of_configs, "'", "'\\''"));
    case ArgumentKind::nothing:
      break;
  }
  return " ";
}

// The arguments of _arguments, one a line.
std::string zsh_arguments(const CommandText& program, const CommandText& command, const std::string& indent) {
  std::string text;
  for (const OptionText& option : command.options) {
    const std::string behind = option.argument.empty() ? ""
                                                       : fmt::format(":{}:{}", zsh_quoted(option.argument),
                                                                     zsh_action(program, option.argument));
    for (const std::string& name : option.names) {
      text += fmt::format(" \\\n{}'*{}[{}]{}'", indent, name, zsh_quoted(short_text(option.description)), behind);
    }
  }
  if (&command == &program) return text;
  for (const OptionText& each : command.positionals) {
    text += fmt::format(" \\\n{}':{}:{}'", indent, zsh_quoted(each.argument), zsh_action(program, each.argument));
  }
  return text;
}

std::string zsh_script(const CommandText& program) {
  std::string verbs, cases;
  for (const CommandText& verb : program.verbs) {
    verbs += fmt::format("    '{}:{}'\n", verb.name, zsh_quoted(short_text(verb.description)));
    cases += is_passed_on(verb)
                 ? fmt::format("        {}) compadd -- {} ;;\n", verb.name, list_of_options(verb, zsh_program))
                 : fmt::format("        {}) _arguments{} ;;\n", verb.name, zsh_arguments(program, verb, "          "));
  }
  return fmt::format(R"(#compdef allocbench
# Completion of allocbench for zsh, made by `allocbench completion zsh`.
_allocbench() {{
  local curcontext=$curcontext state program=${{~words[1]}}
  local -a verbs
  verbs=(
{}  )
  _arguments -C{} \
    '1: :->first' \
    '*:: :->rest'
  case $state in
    first) _describe -t commands command verbs; _files ;;
    rest)
      case $words[1] in
{}      esac ;;
  esac
}}
if [[ ${{funcstack[1]}} == _allocbench ]]; then _allocbench "$@"; else compdef _allocbench allocbench; fi
)",
                     verbs, zsh_arguments(program, program, "    "), cases);
}

// --- fish

constexpr const char* fish_program = "eval (commandline -opc)[1]";

// fish writes what a command prints as (command), not $(command); both words of a list stand in one `echo`.
std::string fish_list(const std::string& words) {
  return "(" + replaced("echo " + words, "$(", "(") + " | string split -n ' ')";
}

std::string fish_quoted(const std::string& text) {
  return "'" + replaced(replaced(text, "\\", "\\\\"), "'", "\\'") + "'";
}

std::string fish_action(const CommandText& program, const std::string& argument) {
  switch (kind_of(argument)) {
    case ArgumentKind::words:
      return fmt::format(" -x -a {}", fish_quoted(fmt::format("{}", fmt::join(words_of(argument), " "))));
    case ArgumentKind::files:
      return " -r -F";
    case ArgumentKind::folders:
      return " -x -a '(__fish_complete_directories)'";
    case ArgumentKind::verbs:
      return fmt::format(" -x -a {}", fish_quoted(fmt::format("{}", fmt::join(names_of(program.verbs), " "))));
    case ArgumentKind::names:
      return " -x -a " + fish_quoted(fish_list(fmt::format(list_of_names, fish_program)));
    case ArgumentKind::groups:
      return " -x -a " + fish_quoted(fish_list(list_of_groups));
    case ArgumentKind::configs:
      return " -x -a " + fish_quoted(fish_list(list_of_configs));
    case ArgumentKind::nothing:
      break;
  }
  return argument.empty() ? "" : " -x";
}

std::string fish_script(const CommandText& program) {
  std::string text = "# Completion of allocbench for fish, made by `allocbench completion fish`.\n";
  for (const CommandText& verb : program.verbs) {
    text += fmt::format("complete -c allocbench -n __fish_use_subcommand -a {} -d {}\n", verb.name,
                        fish_quoted(short_text(verb.description)));
  }
  for (const CommandText* command : commands_of(program)) {
    const std::string when =
        command == &program ? "__fish_use_subcommand" : fish_quoted("__fish_seen_subcommand_from " + command->name);
    for (const OptionText& option : command->options) {
      std::string names;
      for (const std::string& name : option.names) {
        names += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      }
      text += fmt::format("complete -c allocbench -n {}{}{} -d {}\n", when, names,
                          fish_action(program, option.argument), fish_quoted(short_text(option.description)));
    }
    if (command == &program) continue;
    if (is_passed_on(*command)) {
      text += fmt::format("complete -c allocbench -n {} -a {}\n", when,
                          fish_quoted(fish_list(list_of_options(*command, fish_program))));
    }
    for (const OptionText& each : command->positionals) {
      text += fmt::format("complete -c allocbench -n {}{}\n", when, fish_action(program, each.argument));
    }
  }
  return text;
}

}  // namespace

std::string completion_script(const CommandText& program, const std::string& shell) {
  if (shell == "bash") return bash_script(program);
  return shell == "zsh" ? zsh_script(program) : fish_script(program);
}

}  // namespace allocbench::front
