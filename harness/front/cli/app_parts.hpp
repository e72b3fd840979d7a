// The parts of app.hpp's description, which is too long for one file.
#pragma once

#include <CLI/App.hpp>
#include <string>

#include "harness/front/cli/app.hpp"

namespace allocbench::front {

void add_workers_option(CLI::App& app, std::string& workers);

// --device N, for verbs that measure on one device. `when` is the beginning of its help.
CLI::Option* add_device_option(CLI::App& app, int& device, const std::string& when = "");

// report, advise, compare, merge
void add_result_verbs(CLI::App& app, Options& options);

}  // namespace allocbench::front
