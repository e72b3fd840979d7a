// Starts the Python package `plots`, which draws, judges and advises from stored results.
#pragma once

#include <string>
#include <vector>

namespace allocbench::front {

// Replaces this program by `python3 -m plots ARGUMENTS`: its output and exit code are the answer. Throws
// EnvironmentError where the package or Python is missing. The package: $ALLOCBENCH_PLOTS (the folder that holds it),
// else the source tree of this build. Python: $ALLOCBENCH_PYTHON, else Debian's.
[[noreturn]] void become_plots(const std::vector<std::string>& arguments);

}  // namespace allocbench::front
