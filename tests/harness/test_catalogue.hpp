// This file has a small catalogue with parameters of several types, for tests of configs and plans.
#pragma once

#include "harness/front/config/catalogue.hpp"

namespace allocbench::front::testing {

inline ParameterInfo page_bytes_parameter() {
  return {.name = "page_bytes",
          .unit = "B",
          .default_value = std::uint64_t{4096},
          .minimum = 16,
          .maximum = 65536,
          .power_of_two = true};
}

inline protocol::AllocatorDescription make_allocator(const std::string& name,
                                                     std::vector<ParameterInfo> parameters = {}) {
  protocol::AllocatorDescription entry;
  entry.name = name;
  entry.display_name = name;
  entry.frees = "individually";
  entry.parameters = std::move(parameters);
  return entry;
}

inline Catalogue test_catalogue() {
  Catalogue catalogue;
  catalogue.backend = "cpu";
  catalogue.allocators = {make_allocator("halloc"), make_allocator("scatteralloc", {page_bytes_parameter()}),
                          make_allocator("saboteur")};
  catalogue.allocators.back().test_only = true;
  protocol::WorkloadDescription workload;
  workload.name = "alloc_free";
  workload.phases = {"alloc", "free"};
  workload.untimed_kernels = {"one_malloc"};
  workload.parameters = {
      {.name = "request_bytes", .unit = "B", .default_value = std::uint64_t{16}, .minimum = 1},
      {.name = "blocks", .unit = "", .default_value = std::uint64_t{4}, .minimum = 1, .maximum = 1024},
      {.name = "share", .unit = "", .default_value = 0.5, .minimum = 0, .maximum = 1},
      {.name = "shape", .unit = "", .default_value = std::string("flat"), .choices = {"flat", "steep"}},
      {.name = "lanes", .unit = "", .default_value = std::vector<std::uint64_t>{32}, .maximum = 32},
      {.name = "verify", .unit = "", .default_value = true}};
  catalogue.workloads = {workload};
  catalogue.metrics = {{"time", "s", "lower", "", "harness"},
                       {"registers", "", "lower", "", "harness"},
                       {"null_returns", "", "lower", "", "workload"},
                       {"steps_per_malloc", "", "lower", "", "counted"}};
  return catalogue;
}

}  // namespace allocbench::front::testing
