// This file describes the command line for the parser library CLI11. Help, completion scripts and the manual page are
// made from this description.
#pragma once

#include <CLI/App.hpp>
#include <memory>
#include <string>

#include "harness/front/cli/command_line.hpp"

namespace allocbench::front {

// The options of every verb (subcommand) except `advise`, whose options only the Python package knows. Only the options
// of the parsed verb are used.
struct Options {
  RunOptions run;
  StudyOptions study;
  TryOptions trying;
  ListOptions list;
  DescribeOptions describe;
  ReportOptions report;
  CompareOptions compare;
  MergeOptions merge;
  CheckOptions check;
  ProfileOptions profile;
  std::string help_about;  // verb whose help is shown; empty: the program's help
  std::string shell;
};

// Returns the app. Parsing fills `options`, which must outlive the app.
std::unique_ptr<CLI::App> make_app(Options& options);

// Returns "allocbench 0.1.0 (commit ..., measured revision ...)".
std::string version_text();

}  // namespace allocbench::front
