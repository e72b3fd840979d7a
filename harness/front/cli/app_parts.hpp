// These functions add options and verbs to the command line that app.hpp describes. app.cpp and app_results.cpp share
// them.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <limits>
#include <string>

#include "harness/front/cli/app.hpp"

namespace allocbench::front {

// Returns a check of a number from `least` to `most`. CLI::Range also accepts "nan".
CLI::Validator number_between(double least, double most);

// Returns a check of a whole number from 0 to `most`. CLI11 itself reads -1 as 2^64 - 1, and 2^64 too.
CLI::Validator whole_number(std::uint64_t most = std::numeric_limits<std::uint64_t>::max());

void add_workers_option(CLI::App& app, std::string& workers);

// Adds --device N to a verb that measures on one device. `when` is the beginning of the option's help.
CLI::Option* add_device_option(CLI::App& app, int& device, const std::string& when = "");

// Adds the verbs report, advise, compare and merge.
void add_result_verbs(CLI::App& app, Options& options);

}  // namespace allocbench::front
