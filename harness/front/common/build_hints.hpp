// This file has the build command that messages show. The user runs this command in the source tree.
#pragma once

#include <string_view>

namespace allocbench::front {

// This command builds the front end, the workers and their plug-ins. It builds the CUDA worker only if nvcc is
// installed.
inline constexpr std::string_view how_to_build_programs = "`make build`";

}  // namespace allocbench::front
