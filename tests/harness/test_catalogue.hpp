// A small catalogue with one parameter of each type, for tests of configs and plans.
#pragma once

#include "harness/front/config/catalogue.hpp"

namespace allocbench::front::testing {

inline Parameter page_bytes_parameter() {
  return {.name = "page_bytes",
          .type = ParameterType::integer,
          .unit = "B",
          .default_value = std::uint64_t{4096},
          .minimum = 16,
          .maximum = 65536,
          .power_of_two = true};
}

inline AllocatorEntry make_allocator(const std::string& name, std::vector<Parameter> parameters = {}) {
  AllocatorEntry entry;
  entry.name = name;
  entry.display_name = name;
  entry.frees = "individually";
  entry.parameters = std::move(parameters);
  return entry;
}

inline Catalogue test_catalogue() {
  using enum ParameterType;
  Catalogue catalogue;
  catalogue.backend = "cpu";
  catalogue.allocators = {make_allocator("halloc"), make_allocator("scatteralloc", {page_bytes_parameter()}),
                          make_allocator("saboteur")};
  catalogue.allocators.back().test_only = true;
  WorkloadEntry workload;
  workload.name = "alloc_free";
  workload.phases = {"alloc", "free"};
  workload.parameters = {
      {.name = "request_bytes", .type = integer, .unit = "B", .default_value = std::uint64_t{16}, .minimum = 1},
      {.name = "blocks", .type = integer, .unit = "", .default_value = std::uint64_t{4}, .minimum = 1, .maximum = 1024},
      {.name = "share", .type = number, .unit = "", .default_value = 0.5, .minimum = 0, .maximum = 1},
      {.name = "shape", .type = string, .unit = "", .default_value = std::string("flat"), .choices = {"flat", "steep"}},
      {.name = "lanes", .type = integers, .unit = "", .default_value = std::vector<std::uint64_t>{32}, .maximum = 32},
      {.name = "verify", .type = boolean, .unit = "", .default_value = true}};
  catalogue.workloads = {workload};
  return catalogue;
}

}  // namespace allocbench::front::testing
