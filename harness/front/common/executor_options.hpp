// This file has the options of the CPU executor that a user can set. They decide the schedules of the lanes, so they
// are a part of the origin of a number.
#pragma once

#include <cstdint>
#include <optional>
#include <sstream>
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
    if (os_threads != 0) add("--os-threads", os_threads);  // 0 is the default
    add("--lockstep", lockstep_seed);
    return words;
  }
};

// Reads the words of a log.
inline ExecutorOptions executor_options_from(const std::string& words) {
  ExecutorOptions options;
  std::istringstream stream(words);
  std::string option;
  for (std::uint64_t value = 0; stream >> option >> value;) {
    (option == "--lockstep" ? options.lockstep_seed : options.os_threads) = value;
  }
  return options;
}

}  // namespace allocbench::front
