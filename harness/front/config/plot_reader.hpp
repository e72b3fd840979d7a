// The parts of a config that are about drawing and judging: `plot` and `claims`. The schema lists their keys, and says
// in "names" which of them name a setting, phase, kernel, metric or allocator: these must exist.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "harness/front/config/config.hpp"

namespace allocbench::front {

// What the results of a config will have. `workload` is null where it cannot be judged.
struct Drawable {
  const Config& config;
  const Catalogue& catalogue;
  const protocol::WorkloadDescription* workload = nullptr;
  bool allocators_known = true;  // false: some may be missing from the config read here
};

void check_plot_names(const nlohmann::ordered_json& plot, const Drawable& results, Problems& problems);

// The claims about the back end of these results.
void check_claim_names(const nlohmann::ordered_json& claims, const Drawable& results, Problems& problems);

// Whether the plot or a claim of a config shows what untimed passes count.
bool shows_counts(const nlohmann::ordered_json& config, const std::vector<protocol::MetricDescription>& metrics);

}  // namespace allocbench::front
