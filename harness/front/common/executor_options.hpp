// This file has the options of the CPU executor that a user can set. They decide the schedules of the lanes, so they
// are a part of the origin of a number.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace allocbench::front {

struct ExecutorOptions {
  std::optional<std::uint64_t> os_threads = {};
  std::optional<std::uint64_t> lockstep_seed = {};

  // Returns the options that are set, as words of the command line. The worker and the front end have the same options.
  std::vector<std::string> words() const {
    std::vector<std::string> words;
    const auto add = [&](const char* option, const std::optional<std::uint64_t>& value) {
      if (value) words.insert(words.end(), {option, std::to_string(*value)});
    };
    add("--os-threads", os_threads);
    add("--lockstep", lockstep_seed);
    return words;
  }
};

}  // namespace allocbench::front
