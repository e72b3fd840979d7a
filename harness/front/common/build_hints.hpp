// How to build what a message names, in the source tree.
#pragma once

#include <string_view>

namespace allocbench::front {

// The front end, the workers and their plug-ins; the CUDA worker only where nvcc is.
inline constexpr std::string_view how_to_build_programs = "`make build`";

}  // namespace allocbench::front
