// Starts the Python package `plots`, which draws, judges and advises from stored results, and Python programs of
// tools/.
#pragma once

#include <string>
#include <vector>

namespace allocbench::front {

// Replaces this program by `python3 -m plots ARGUMENTS`: its output and exit code are the answer. Throws
// EnvironmentError where the package or Python is missing. The package: $ALLOCBENCH_PLOTS (the folder that holds it),
// else the source tree of this build. Python: $ALLOCBENCH_PYTHON, else Debian's.
[[noreturn]] void become_plots(const std::vector<std::string>& arguments);

// Replaces this program by tools/NAME of the same source tree.
[[noreturn]] void become_tool(const std::string& name, const std::vector<std::string>& arguments);

// Draws the figures of these folders, in as many processes as there are cores. Their lines go to stderr. False where a
// figure, the package or Python is missing; stderr says which.
bool draw_figures(const std::vector<std::string>& folders);

}  // namespace allocbench::front
