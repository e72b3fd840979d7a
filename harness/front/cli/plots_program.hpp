// This file starts the Python package `plots`, which draws figures, makes the HTML page, judges claims and gives advice
// from stored results. become_tool() starts the Python programs in tools/.
#pragma once

#include <string>
#include <vector>

namespace allocbench::front {

// Replaces this program by `python3 -m plots ARGUMENTS`, whose output and exit code are the answer. The package is in
// the folder $ALLOCBENCH_PLOTS, otherwise in the source tree of this build. Python is $ALLOCBENCH_PYTHON, otherwise
// /usr/bin/python3. Throws EnvironmentError if the package or Python is missing.
[[noreturn]] void become_plots(const std::vector<std::string>& arguments);

// Replaces this program by tools/NAME of the same source tree.
[[noreturn]] void become_tool(const std::string& name, const std::vector<std::string>& arguments);

// Draws the figures of these folders, with at most one process per core, and prints the output of these processes to
// stderr. Returns false if a figure, the package or Python is missing; stderr then has the reason.
bool draw_figures(const std::vector<std::string>& folders);

}  // namespace allocbench::front
