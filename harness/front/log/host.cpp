#include "harness/front/log/host.hpp"

#include <sys/utsname.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

namespace allocbench::front {
namespace {

// Returns the value of the first line `key<separator>value`, or an empty text if there is none.
std::string value_in_file(const char* path, std::string_view key, char separator) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const auto begin = line.find(separator);
    if (begin == std::string::npos) continue;
    const auto first = line.find_first_not_of(" \t\"", begin + 1);
    const auto last = line.find_last_not_of(" \t\"");
    return first == std::string::npos ? "" : line.substr(first, last - first + 1);
  }
  return "";
}

}  // namespace

std::string_view program_version() { return ALLOCBENCH_VERSION; }

nlohmann::ordered_json describe_host() {
  utsname system = {};
  uname(&system);
  std::array<double, 3> load = {};
  getloadavg(load.data(), static_cast<int>(load.size()));
  const std::string clock = value_in_file("/proc/cpuinfo", "cpu MHz", ':');
  return {{"host_name", system.nodename},
          {"cpu", value_in_file("/proc/cpuinfo", "model name", ':')},
          {"num_cpus", std::thread::hardware_concurrency()},
          {"mhz_per_cpu", clock.empty() ? 0 : static_cast<int>(std::strtod(clock.c_str(), nullptr))},
          {"os", value_in_file("/etc/os-release", "PRETTY_NAME", '=')},
          {"kernel", system.release},
          {"load_avg", load}};
}

}  // namespace allocbench::front
