// This file describes the machine and the program, as recorded in every run.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace allocbench::front {

std::string_view program_version();

// Returns the name, CPUs, operating system, kernel and load of the machine. Values that are also in Google Benchmark's
// context have the same keys as there.
nlohmann::ordered_json describe_host();

}  // namespace allocbench::front
