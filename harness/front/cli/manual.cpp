#include "harness/front/cli/manual.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <sstream>

#include "harness/front/log/host.hpp"

namespace allocbench::front {
namespace {

// Escapes a text for roff.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char letter : text) {
    const bool begins_line = result.empty() || result.back() == '\n';
    if (begins_line && (letter == '.' || letter == '\'')) result += "\\&";
    if (letter == '\\') {
      result += "\\e";
    } else if (letter == '-') {
      result += "\\-";
    } else {
      result += letter;
    }
  }
  return result;
}

// Returns the paragraphs, with indented lines unchanged.
std::string footer_of(const std::string& text) {
  std::istringstream lines(text);
  std::string result;
  // Whether roff may break the previous line. The first value is true, so that an indented first line gets .PP, which
  // ends the indentation of the entries above.
  bool filled = true;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) continue;
    const bool indented = line[0] == ' ';
    if (indented && filled) result += ".PP\n";
    if (indented) {
      result += ".nf\n" + escaped(line) + "\n.fi\n";
    } else {
      result += ".PP\n" + escaped(line) + "\n";
    }
    filled = !indented;
  }
  return result;
}

// Returns a heading such as "-c, --config FILE".
std::string heading_of(const OptionText& option) {
  const std::string names = fmt::format("{}", fmt::join(option.names, ", "));
  const std::string argument = option.argument.empty() ? "" : fmt::format(" \\fI{}\\fR", escaped(option.argument));
  return names.empty() ? argument.substr(1) : fmt::format("\\fB{}\\fR{}", escaped(names), argument);
}

std::string entries(const std::vector<OptionText>& options) {
  std::string text;
  for (const OptionText& option : options) {
    text += fmt::format(".TP\n{}\n{}\n", heading_of(option), escaped(option.description));
  }
  return text;
}

std::string section_of(const CommandText& verb) {
  std::string call = fmt::format("allocbench {}", verb.name);
  for (const OptionText& each : verb.positionals) call += " " + each.argument;
  return fmt::format(".SS {}\n{}.\n{}{}{}", escaped(call), escaped(verb.description), entries(verb.positionals),
                     entries(verb.options), footer_of(verb.footer));
}

}  // namespace

std::string manual_page(const CommandText& program) {
  std::string text = fmt::format(
      ".TH ALLOCBENCH 1 \"\" \"allocbench {}\" \"User Commands\"\n"
      ".SH NAME\nallocbench \\- benchmark GPU memory allocators\n"
      ".SH SYNOPSIS\n.B allocbench\n.RI [ options ] \" FILE\"\n.br\n.B allocbench\n.IR \"COMMAND \" [ arguments ]\n"
      ".SH DESCRIPTION\n{}\n.SH OPTIONS\n{}.SH COMMANDS\n",
      program_version(), escaped(program.description), entries(program.options));
  for (const CommandText& verb : program.verbs) text += section_of(verb);
  return text + ".SH EXAMPLES, EXIT CODES, ENVIRONMENT\n" + footer_of(program.footer);
}

}  // namespace allocbench::front
