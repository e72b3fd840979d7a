// This file reads the part of a config that selects the allocators and their settings: `allocators` and `overrides`.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "harness/front/config/config.hpp"

namespace allocbench::front {

// The names that a config may use on one back end.
struct Names {
  const Catalogue& catalogue;
  const Catalogue* other = nullptr;  // catalogue of the other back end; null if unknown
  bool complete = true;              // whether all names are known; false if this catalogue replaces a missing one
};

class AllocatorReader {
 public:
  // `workload` is null if the config has no workload that can be checked. The references must outlive the reader.
  AllocatorReader(const nlohmann::ordered_json& config, const Names& names,
                  const protocol::WorkloadDescription* workload, const Settings& settings, Problems& problems);

  std::vector<AllocatorChoice> read();

 private:
  void read_entries(const nlohmann::ordered_json& json, const std::string& pointer);
  void read_entry(const nlohmann::ordered_json& json, const std::string& pointer);
  const protocol::AllocatorDescription* known(const std::string& id, const std::string& pointer);
  void add_choice(const protocol::AllocatorDescription& allocator, const ParameterValues& given, std::string label);
  void label_choices();
  void read_overrides();
  void override_choice(AllocatorChoice& choice, const protocol::AllocatorDescription& allocator,
                       const nlohmann::ordered_json& changes, const std::string& pointer);

  const nlohmann::ordered_json& config_;
  const Names& names_;
  const protocol::WorkloadDescription* workload_;
  const Settings& settings_;
  Problems& problems_;
  std::vector<AllocatorChoice> choices_;
  std::vector<ParameterValues> given_;  // parameters of each choice as written, for labels
};

}  // namespace allocbench::front
