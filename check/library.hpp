#pragma once

#include <string_view>
#include <vector>

#include "check/model.hpp"

namespace allocbench::check {

const std::vector<Model>& model_library();
// Returns the model with this name, or null if there is none.
const Model* find_model(std::string_view name);

}  // namespace allocbench::check
