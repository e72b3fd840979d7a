// Every metric that results can hold, declared once: readers, tables and plots take unit and direction from here.
#pragma once

#include <span>
#include <string_view>

namespace allocbench::worker {

struct Metric {
  std::string_view name;
  std::string_view unit;    // empty: a count
  std::string_view better;  // "lower", "higher" or "none"
  std::string_view description;
  std::string_view source;  // "harness", "workload", "allocator", or "counted" in untimed passes
};

std::span<const Metric> metrics();

}  // namespace allocbench::worker
