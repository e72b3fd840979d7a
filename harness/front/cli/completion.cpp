#include "harness/front/cli/completion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "harness/front/common/shell.hpp"

namespace allocbench::front {
namespace {

constexpr const char* configs =
    "find configs -mindepth 2 -name '*.json' -not -path 'configs/schema/*' 2>/dev/null"
    " | sed 's#^configs/##; s/[.]json$//'";
constexpr const char* groups =
    "find configs -mindepth 1 -maxdepth 1 -type d -not -name schema 2>/dev/null | sed 's#^configs/##'"
    "; printf 'papers\\nsurvey\\n'";

std::string output_of(const std::string& command) {
  std::string text;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  for (int byte; pipe && (byte = std::fgetc(pipe.get())) != EOF;) text += static_cast<char>(byte);
  return text;
}

std::string output_of_this(const std::string& arguments) {
  return output_of(quoted(std::filesystem::read_symlink("/proc/self/exe").string()) + " " + arguments);
}

// Only the first sentence of a description is shown beside a name.
std::string candidate(const std::string& word, const std::string& description) {
  std::string text = description.substr(0, description.find(". "));
  std::replace(text.begin(), text.end(), '\n', ' ');
  return fmt::format("{}\t{}\n", word, text);
}

std::string verbs_of(const CommandText& program) {
  std::string text;
  for (const CommandText& verb : program.verbs) text += candidate(verb.name, verb.description);
  return text;
}

std::string options_of(const CommandText& command) {
  // If another program parses the options of a verb, only that program knows them.
  if (command.options.empty())
    return output_of_this(command.name + " --help 2>/dev/null | grep -o -- '--[a-z][a-z-]*' | sort -u");
  std::string text;
  for (const OptionText& option : command.options) {
    for (const std::string& name : option.names) text += candidate(name, option.description);
  }
  return text;
}

std::string values_of(const CommandText& program, const std::string& argument) {
  std::string text;
  switch (kind_of(argument)) {
    case ArgumentKind::words:
      for (const std::string& word : words_of(argument)) text += word + "\n";
      return text;
    case ArgumentKind::files:
      return "<files>\n";
    case ArgumentKind::folders:
      return "<folders>\n";
    case ArgumentKind::verbs:
      return verbs_of(program);
    case ArgumentKind::names:
      return output_of_this("list --names 2>/dev/null");
    case ArgumentKind::groups:
      return output_of(groups);
    case ArgumentKind::configs:
      return output_of(configs);
    case ArgumentKind::nothing:
      break;
  }
  return text;
}

constexpr const char* bash_script = R"script(# Completion of allocbench for bash, made by `allocbench completion bash`.
_allocbench() {
  local program=${COMP_WORDS[0]/#\~/$HOME} word=${COMP_WORDS[COMP_CWORD]} line
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      '<files>') compopt -o filenames; COMPREPLY+=($(compgen -f -- "$word")) ;;
      '<folders>') compopt -o filenames; COMPREPLY+=($(compgen -d -- "$word")) ;;
      *) COMPREPLY+=($(compgen -W "${line%%$'\t'*}" -- "$word")) ;;
    esac
  done < <("$program" complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _allocbench allocbench
)script";

constexpr const char* zsh_script = R"script(#compdef allocbench
# Completion of allocbench for zsh, made by `allocbench completion zsh`.
_allocbench() {
  local program=${~words[1]} line
  local -a found
  for line in ${(f)"$($program complete "${(@Q)words[2,CURRENT]}" 2>/dev/null)"}; do
    case $line in
      '<files>') _files ;;
      '<folders>') _files -/ ;;
      *) found+=("${line/$'\t'/:}") ;;
    esac
  done
  _describe allocbench found
}
if [[ ${funcstack[1]} == _allocbench ]]; then _allocbench "$@"; else compdef _allocbench allocbench; fi
)script";

constexpr const char* fish_script = R"script(# Completion of allocbench for fish, made by `allocbench completion fish`.
function __allocbench
  set -l typed (commandline -opc)
  set -l word (commandline -ct)
  for line in (eval $typed[1] complete (string escape -- $typed[2..] "$word") 2>/dev/null)
    switch $line
      case '<files>'
        __fish_complete_path "$word"
      case '<folders>'
        __fish_complete_directories "$word"
      case '*'
        echo $line
    end
  end
end
complete -c allocbench -f -a '(__allocbench)'
)script";

}  // namespace

std::string candidates(const CommandText& program, const std::vector<std::string>& words) {
  if (words.empty()) return "";
  const CommandText* command = &program;
  for (std::size_t i = 0; i + 1 < words.size() && command == &program; ++i) {
    for (const CommandText& verb : program.verbs) {
      if (verb.name == words[i]) command = &verb;
    }
  }
  for (const OptionText& option : command->options) {
    const bool is_before = words.size() > 1 && std::ranges::find(option.names, words.end()[-2]) != option.names.end();
    if (is_before && !option.argument.empty()) return values_of(program, option.argument);
  }
  if (words.back().starts_with("-")) return options_of(*command);
  std::string text = command == &program ? verbs_of(program) : "";
  for (const OptionText& each : command->positionals) text += values_of(program, each.argument);
  return text;
}

std::string completion_script(const std::string& shell) {
  return shell == "bash" ? bash_script : shell == "zsh" ? zsh_script : fish_script;
}

}  // namespace allocbench::front
