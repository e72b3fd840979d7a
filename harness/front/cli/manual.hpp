// This file makes the manual page of `allocbench`, in roff.
#pragma once

#include <string>

#include "harness/front/cli/command_texts.hpp"

namespace allocbench::front {

std::string manual_page(const CommandText& program);

}  // namespace allocbench::front
