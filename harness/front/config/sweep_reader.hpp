// This file reads the part of a config that defines its cells: `sweep`, `zip` and `exclude`.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/front/common/problems.hpp"
#include "harness/front/config/catalogue.hpp"
#include "harness/front/config/config.hpp"

namespace allocbench::front {

class SweepReader {
 public:
  // `workload` is nullptr if the config names no known workload, which is reported elsewhere. The references must
  // outlive the reader.
  SweepReader(const nlohmann::ordered_json& config, const Catalogue& catalogue,
              const protocol::WorkloadDescription* workload, const std::vector<AllocatorChoice>& allocators,
              Problems& problems);

  // Returns the axes of `sweep`, each as a separate group, then the groups of `zip`.
  std::vector<AxisGroup> axis_groups() const;
  std::vector<Exclusion> exclusions(const std::vector<AxisGroup>& groups) const;

 private:
  const ParameterInfo* axis_parameter(const std::string& name, const std::string& pointer) const;
  const ParameterInfo* allocator_parameter(const std::string& name, const std::string& pointer) const;
  std::optional<Axis> plain_axis(const std::string& name, const nlohmann::ordered_json& json,
                                 const std::string& pointer) const;
  std::optional<Axis> zipped_axis(const std::string& name, const nlohmann::ordered_json& json,
                                  const std::string& pointer) const;
  std::optional<AxisGroup> zip_group(const nlohmann::ordered_json& json, const std::string& pointer) const;
  std::vector<ParameterValue> condition(const std::string& name, const nlohmann::ordered_json& json,
                                        const std::string& pointer) const;
  void report_repeated_axes(const std::vector<AxisGroup>& groups) const;

  const nlohmann::ordered_json& config_;
  const Catalogue& catalogue_;
  const protocol::WorkloadDescription* workload_;
  const std::vector<AllocatorChoice>& allocators_;
  Problems& problems_;
};

}  // namespace allocbench::front
