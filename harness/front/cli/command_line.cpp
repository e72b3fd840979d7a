// This file turns the words of the command line into a command or an answer: help, version, completion, manual or an
// error.
#include "harness/front/cli/command_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <boost/algorithm/string/case_conv.hpp>
#include <boost/algorithm/string/classification.hpp>
#include <boost/algorithm/string/split.hpp>
#include <filesystem>
#include <sstream>
#include <string_view>

#include "harness/front/cli/app.hpp"
#include "harness/front/cli/command_texts.hpp"
#include "harness/front/cli/completion.hpp"
#include "harness/front/cli/manual.hpp"
#include "harness/front/cli/suggestions.hpp"
#include "harness/front/common/errors.hpp"
#include "harness/front/common/output.hpp"

namespace allocbench::front {
namespace {

int usage_error(const std::string& text) {
  tell("allocbench: {}\n", text);
  return exit_usage;
}

std::vector<std::string> names_of_verbs(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(verb->get_name());
  return names;
}

// Returns the unknown options, with the nearest valid options of the same verb.
std::string unexpected(const CLI::App& app) {
  const auto parsed = app.get_subcommands();
  const CLI::App& verb = parsed.empty() ? app : *parsed.front();
  std::vector<std::string> known;
  for (const OptionText& option : text_of(verb).options) {
    for (const std::string& name : option.names) known.push_back(name);
  }
  const std::string help = parsed.empty() ? "--help" : verb.get_name() + " --help";
  std::string text;
  // The argument of a misspelt option is an unexpected word too, or makes one of another word. So only options are
  // named.
  const std::vector<std::string> words = app.remaining(true);
  const auto is_option = [](const std::string& word) { return word.starts_with("-") && word != "--"; };
  const bool has_option = std::any_of(words.begin(), words.end(), is_option);
  for (const std::string& word : words) {
    if (word == "--" || (has_option && !is_option(word))) continue;
    text += fmt::format("{}\"{}\" was not expected.{}", text.empty() ? "" : " ", word,
                        did_you_mean(word.substr(0, word.find('=')), known));
  }
  return fmt::format("{} Try {}.", text, help);
}

// Returns a message of CLI11 in plain words. CLI11 names positional arguments by internal words, such as "what: allocs
// not in {allocators,workloads,metrics}".
std::string plain_words(const std::string& text) {
  constexpr std::string_view of_values = " not in {";
  constexpr std::string_view of_lack = " is required";
  constexpr std::string_view not_converted = "Could not convert: ";
  const auto colon = text.find(": ");
  const auto values = text.find(of_values);
  if (colon < values && values != std::string::npos && text.ends_with('}')) {
    const std::string name = text.substr(0, colon);
    const std::size_t begin = values + of_values.size();
    std::vector<std::string> allowed;
    boost::split(allowed, text.substr(begin, text.size() - begin - 1), boost::is_any_of(","));
    return fmt::format("{}\"{}\" is not one of {}.", name.starts_with('-') ? name + ": " : "",
                       text.substr(colon + 2, values - colon - 2), fmt::join(allowed, ", "));
  }
  if (const auto equals = text.find(" = "); text.starts_with(not_converted) && equals != std::string::npos) {
    return fmt::format("{}: \"{}\" is not a whole number that this option accepts.",
                       text.substr(not_converted.size(), equals - not_converted.size()), text.substr(equals + 3));
  }
  if (text.ends_with(of_lack) && text.find(' ') == text.size() - of_lack.size()) {
    const std::string name = text.substr(0, text.find(' '));
    return fmt::format("{} is missing.", name.starts_with('-') ? name : boost::to_upper_copy(name));
  }
  return text + ".";
}

// Makes a new app, because a parsed app would only show the help of the verb `help`.
int show_help(const std::string& about) {
  Options options;
  const std::unique_ptr<CLI::App> fresh = make_app(options);
  const CLI::App& app = *fresh;
  if (about.empty()) {
    show("{}", app.help());
    return exit_all_ok;
  }
  const auto verbs = app.get_subcommands([&](const CLI::App* each) { return each->get_name() == about; });
  if (verbs.empty()) {
    return usage_error(
        fmt::format("There is no command \"{}\".{} Try --help.", about, did_you_mean(about, names_of_verbs(app))));
  }
  if (about == "advise") return advise_command({{"--help"}});  // only the Python package knows the options
  show("{}", verbs.front()->help("allocbench"));
  return exit_all_ok;
}

// Returns the mistake in a requested run, or an empty text if its config exists.
std::string complaint_about(const RunOptions& run, const CLI::App& app) {
  if (run.config.empty()) return "Nothing to do. Name a config, as in `allocbench configs/smoke.json`, or see --help.";
  std::error_code error;  // set for names that cannot be file names
  if (std::filesystem::is_directory(run.config, error)) {
    return fmt::format(
        "The config {} must be a regular file; it is a folder. `allocbench study GROUP` measures all "
        "configs of a folder of configs/.",
        run.config);
  }
  if (std::filesystem::exists(run.config, error)) return "";
  return missing_config(run.config, names_of_verbs(app));
}

std::variant<Command, int> chosen(const Options& options, const CLI::App& app) {
  const auto parsed = app.get_subcommands();
  const std::string verb = parsed.empty() ? "" : parsed.front()->get_name();
  if (verb == "study") return Command(options.study);
  if (verb == "try") return Command(options.trying);
  if (verb == "list") return Command(options.list);
  if (verb == "describe") return Command(options.describe);
  if (verb == "report") return Command(options.report);
  if (verb == "advise") return Command(AdviseOptions{parsed.front()->remaining()});
  if (verb == "merge") return Command(options.merge);
  if (verb == "check") return Command(options.check);
  if (verb == "profile") return Command(options.profile);
  if (verb == "help") return show_help(options.help_about);
  if (verb == "compare") {
    if (!options.compare.reference.empty() || !options.compare.b.empty()) return Command(options.compare);
    return usage_error("compare needs two sets of results, or --with-reference. Try compare --help.");
  }
  if (verb == "version" || verb == "completion" || verb == "manual") {
    const CommandText text = text_of(app);
    show("{}", verb == "version"      ? version_text() + "\n"
               : verb == "completion" ? completion_script(options.shell)
                                      : manual_page(text));
    return exit_all_ok;
  }
  const std::string complaint = complaint_about(options.run, app);
  if (!complaint.empty()) return usage_error(complaint);
  return Command(options.run);
}

}  // namespace

std::variant<Command, int> parse_command_line(int argc, const char* const* argv) {
  Options options;
  const std::unique_ptr<CLI::App> app = make_app(options);
  if (argc > 1 && std::string(argv[1]) == "complete") {  // the words to complete are not yet a command line
    show("{}", candidates(text_of(*app), {argv + 2, argv + argc}));
    return exit_all_ok;
  }
  try {
    app->parse(argc, argv);
  } catch (const CLI::Success& request) {  // a request for --help or --version
    std::ostringstream text, errors;
    const int exit_code = app->exit(request, text, errors);
    show("{}", text.str());
    return exit_code;
  } catch (const CLI::ExtrasError&) {
    // CLI11 takes a misspelt command for a config, and its arguments for superfluous ones.
    const auto words = app->remaining(true);
    const bool has_option =
        std::any_of(words.begin(), words.end(), [](const std::string& word) { return word.starts_with("-"); });
    const bool runs = app->get_subcommands().empty() && !options.run.config.empty() && !has_option;
    const std::string complaint = runs ? complaint_about(options.run, *app) : "";
    return usage_error(complaint.empty() ? unexpected(*app) : complaint);
  } catch (const CLI::ParseError& error) {
    const auto parsed = app->get_subcommands();
    const std::string verb = parsed.empty() ? "" : parsed.front()->get_name() + " ";
    return usage_error(fmt::format("{}{} Try {}--help.", verb.empty() ? "" : verb.substr(0, verb.size() - 1) + ": ",
                                   plain_words(error.what()), verb));
  }
  options.check.program = argv[0];
  return chosen(options, *app);
}

}  // namespace allocbench::front
