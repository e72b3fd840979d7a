#include "harness/front/cli/all_devices.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/process/args.hpp>
#include <boost/process/child.hpp>
#include <cstdio>
#include <filesystem>

#include "harness/front/common/errors.hpp"

namespace allocbench::front {
namespace {

namespace process = boost::process;

std::size_t count_devices(const StudyOptions& study, const WorkerProgram& program) {
  for (int device = 0;; ++device) {
    try {
      WorkerSession session({program, device, study.run.os_threads}, {});
      if (session.start().kind == Outcome::Kind::interrupted) throw EnvironmentError("Interrupted.");
      session.stop();
    } catch (const EnvironmentError&) {
      if (device == 0) throw;
      return static_cast<std::size_t>(device);
    }
  }
}

std::vector<std::string> arguments_of(const StudyOptions& study, std::size_t device,
                                      const std::vector<std::string>& configs) {
  const RunOptions& run = study.run;
  std::vector<std::string> arguments = {"study",     study.group, "--configs", study.configs,
                                        "--backend", "cuda",      "--device",  fmt::format("{}", device),
                                        "--quiet"};
  const auto add = [&](const char* option, const std::string& value) {
    arguments.insert(arguments.end(), {option, value});
  };
  for (const std::string& config : configs) add("--only", config);
  if (!run.out.empty()) add("--out", run.out);
  if (run.timeout) add("--timeout", fmt::format("{}", *run.timeout));
  if (run.minutes) add("--minutes", fmt::format("{}", *run.minutes));
  if (!run.known.empty()) add("--known", run.known);
  if (run.seed) add("--seed", fmt::format("{}", *run.seed));
  if (!run.data.empty()) add("--data", run.data);
  if (!run.workers.empty()) add("--workers", run.workers);
  for (const auto& [given, option] :
       {std::pair{run.resume, "--resume"}, std::pair{run.only_failed, "--only-failed"}, std::pair{run.force, "--force"},
        std::pair{run.allow_mixed, "--allow-mixed"}, std::pair{run.profile, "--profile"}, std::pair{run.full, "--full"},
        std::pair{!run.use_known, "--no-known"}}) {
    if (given) arguments.emplace_back(option);
  }
  return arguments;
}

}  // namespace

std::vector<std::vector<std::string>> share_out(std::vector<ConfigSize> configs, std::size_t devices) {
  std::stable_sort(configs.begin(), configs.end(),
                   [](const ConfigSize& one, const ConfigSize& other) { return one.cells > other.cells; });
  std::vector<std::vector<std::string>> shares(devices);
  std::vector<std::size_t> cells(devices, 0);
  for (const ConfigSize& config : configs) {
    const auto least = static_cast<std::size_t>(std::min_element(cells.begin(), cells.end()) - cells.begin());
    shares[least].push_back(config.name);
    cells[least] += config.cells;
  }
  while (!shares.empty() && shares.back().empty()) shares.pop_back();
  return shares;
}

int study_on_all_devices(const StudyOptions& study, const Target& target, const std::vector<ConfigSize>& configs) {
  if (target.program.backend != "cuda") {
    throw UsageError("--device all is for the cuda back end. Leave it out, or choose --backend cuda.");
  }
  const auto shares = share_out(configs, count_devices(study, target.program));
  std::vector<process::child> children;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  for (std::size_t device = 0; device < shares.size(); ++device) {
    fmt::print(stderr, "allocbench: device {}: {}\n", device, fmt::join(shares[device], ", "));
    children.emplace_back(self, process::args(arguments_of(study, device, shares[device])));
  }
  int worst = exit_all_ok;
  for (process::child& child : children) {
    child.wait();
    worst = std::max(worst, child.exit_code());
  }
  return worst;
}

}  // namespace allocbench::front
