#include "harness/front/cli/help_formatter.hpp"

#include <sstream>

#include "harness/front/common/terminal.hpp"

namespace allocbench::front {
namespace {

constexpr std::size_t width = 80;
constexpr std::size_t indent = 26;  // column of descriptions

std::string paragraphs(const std::string& text) {
  std::istringstream lines(text);
  std::string result;
  for (std::string line; std::getline(lines, line);) {
    result += line.empty() || line[0] == ' ' ? line + "\n" : folded(line, width, 0);
  }
  return result;
}

std::string beside_a_name(const std::string& description) {
  std::string text = description.empty() ? "" : folded(description, width - indent, 0);
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

// Removes the text of a validator or flag that CLI11 adds, as in `auto|cuda|cpu:{auto,cuda,cpu}` and
// `--no-known{false}`.
std::string without(std::string text, const std::string& what) {
  if (const std::size_t at = text.find(what); at != std::string::npos) text.erase(at, what.size());
  return text;
}

}  // namespace

HelpFormatter::HelpFormatter() { column_width(indent); }

std::string HelpFormatter::make_description(const CLI::App* app) const {
  const std::string text = app->get_description();
  return text.empty() ? "" : paragraphs(text);
}

std::string HelpFormatter::make_footer(const CLI::App* app) const { return paragraphs(app->get_footer()); }

std::string HelpFormatter::make_usage(const CLI::App* app, std::string name) const {
  return paragraphs(CLI::Formatter::make_usage(app, std::move(name)));
}

std::string HelpFormatter::make_subcommand(const CLI::App* verb) const {
  std::ostringstream text;
  CLI::detail::format_help(text, verb->get_display_name(true), beside_a_name(verb->get_description()), indent);
  return text.str();
}

std::string HelpFormatter::make_option_name(const CLI::Option* option, bool is_positional) const {
  return without(CLI::Formatter::make_option_name(option, is_positional), "{false}");
}

std::string HelpFormatter::make_option_opts(const CLI::Option* option) const {
  const std::string type = option->get_type_name();
  const std::size_t validator = type.find(':');
  const std::string text = CLI::Formatter::make_option_opts(option);
  return validator == std::string::npos ? text : without(text, type.substr(validator));
}

std::string HelpFormatter::make_option_desc(const CLI::Option* option) const {
  return beside_a_name(option->get_description());
}

}  // namespace allocbench::front
