// This file checks the names in the parts of a config for drawing and judging: `plot` and `claims`. The schema lists
// the keys of these parts. In the schema, "names" marks a key whose value is the name of a setting, phase, kernel,
// metric or allocator. These names must exist.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "harness/front/config/config.hpp"

namespace allocbench::front {

// The names that the results of a config will have. `workload` is null if it cannot be checked.
struct Drawable {
  const Config& config;
  const Catalogue& catalogue;
  const protocol::WorkloadDescription* workload = nullptr;
  bool allocators_known = true;  // whether the names of all allocators are known
};

void check_plot_names(const nlohmann::ordered_json& plot, const Drawable& results, Problems& problems);

// Adds a problem for each wrong name in the claims about the back end of these results.
void check_claim_names(const nlohmann::ordered_json& claims, const Drawable& results, Problems& problems);

// Returns whether the plot or a claim of a config shows counts or histograms of untimed passes.
bool shows_counts(const nlohmann::ordered_json& config, const std::vector<protocol::MetricDescription>& metrics);

}  // namespace allocbench::front
