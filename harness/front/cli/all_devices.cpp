#include "harness/front/cli/all_devices.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/process/args.hpp>
#include <boost/process/child.hpp>
#include <boost/process/extend.hpp>
#include <chrono>
#include <filesystem>
#include <thread>
#include <utility>

#include "harness/front/cli/study_words.hpp"
#include "harness/front/common/errors.hpp"
#include "harness/front/common/interrupt.hpp"
#include "harness/front/common/output.hpp"
#include "harness/front/common/units.hpp"
#include "harness/front/workers/device_check.hpp"
#include "harness/front/workers/worker_process.hpp"
#include "harness/front/workers/worker_session.hpp"

namespace allocbench::front {
namespace {

namespace process = boost::process;

constexpr auto between_looks = std::chrono::milliseconds(100);

struct DeviceStudy {
  std::size_t device;
  process::child process;
};

// Returns the UUIDs of the GPUs, in the order of their numbers. The function tries to open one GPU after the other,
// because only a worker can tell whether a number exists. It stops at the first number that cannot be opened, and shows
// the error, because this GPU may be broken.
std::vector<std::string> cards_of(const StudyOptions& study, const WorkerProgram& program) {
  std::vector<std::string> cards;
  SessionListener listener;
  listener.device = [&](const protocol::Device& device) {
    for (const std::string& warning : warnings_about(device)) {
      if (!study.run.quiet) tell("allocbench: warning: device {}: {}\n", cards.size(), warning);
    }
    cards.push_back(device.uuid.value_or(""));
  };
  for (int device = 0;; ++device) {
    try {
      WorkerSession session({program, device, study.run.executor}, listener);
      if (session.start().kind == Outcome::Kind::interrupted) throw Interrupted();
      session.stop();
    } catch (const EnvironmentError& error) {
      if (cards.empty()) throw;
      if (interrupted()) throw Interrupted();
      tell("allocbench: measuring on {} ({})\n", counted(cards.size(), "GPU"), error.what());
      return cards;
    }
  }
}

std::vector<std::string> arguments_of(const StudyOptions& study, std::size_t device,
                                      const std::vector<std::string>& configs) {
  std::vector<std::string> arguments = {"study",
                                        study.group,
                                        "--configs",
                                        study.configs,
                                        "--part",
                                        study.part,
                                        "--backend",
                                        "cuda",
                                        "--quiet",
                                        "--device",
                                        fmt::format("{}", device)};
  for (const std::string& config : configs) arguments.insert(arguments.end(), {"--only", config});
  if (!study.run.out.empty()) arguments.insert(arguments.end(), {"--out", study.run.out});
  for (const std::string& word : measuring_words(study.run)) arguments.push_back(word);
  return arguments;
}

// Starts a process in its own process group. So Ctrl-C on a terminal reaches only this program, which passes it on
// once. If this program ends first, the process ends as after Ctrl-C.
process::child start_on(const std::string& program, const std::vector<std::string>& arguments) {
  const auto in_child = [](auto&) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
  };
  return process::child(program, process::args(arguments), process::extend::on_exec_setup(in_child));
}

// Returns the exit code of an ended process. A process that was killed by a signal has none, and could not tell why.
int exit_code_of(const DeviceStudy& study) {
  const int status = study.process.native_exit_code();
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  tell("allocbench: device {}: the study {}.\n", study.device, describe_death(status));
  return exit_environment;
}

// Waits for all processes and returns the largest exit code. At the first signal that asks this program to end,
// interrupts the processes.
int wait_for(std::vector<DeviceStudy>& studies) {
  bool told = false;
  while (std::any_of(studies.begin(), studies.end(), [](DeviceStudy& study) { return study.process.running(); })) {
    if (interrupted() && !std::exchange(told, true)) {
      for (DeviceStudy& study : studies) {
        if (study.process.running()) kill(study.process.id(), SIGINT);
      }
    }
    std::this_thread::sleep_for(between_looks);
  }
  int worst = exit_all_ok;
  for (DeviceStudy& study : studies) {
    study.process.wait();
    worst = std::max(worst, exit_code_of(study));
  }
  return worst;
}

}  // namespace

std::vector<std::vector<std::string>> share_out(std::vector<ConfigShare> configs,
                                                const std::vector<std::string>& cards) {
  std::stable_sort(configs.begin(), configs.end(),
                   [](const ConfigShare& one, const ConfigShare& other) { return one.work > other.work; });
  std::vector<std::vector<std::string>> shares(cards.size());
  std::vector<std::uint64_t> work(cards.size(), 0);
  const auto give = [&](const ConfigShare& config, std::size_t device) {
    shares[device].push_back(config.name);
    work[device] += config.work;
  };
  const auto place_of = [&](const ConfigShare& config) {
    return static_cast<std::size_t>(std::find(cards.begin(), cards.end(), config.card) - cards.begin());
  };
  const auto is_bound = [&](const ConfigShare& config) {
    return !config.card.empty() && place_of(config) < cards.size();
  };
  for (const ConfigShare& config : configs) {
    if (is_bound(config)) give(config, place_of(config));
  }
  for (const ConfigShare& config : configs) {
    if (is_bound(config)) continue;
    give(config, static_cast<std::size_t>(std::min_element(work.begin(), work.end()) - work.begin()));
  }
  return shares;
}

int study_on_all_devices(const StudyOptions& study, const Target& target, const std::vector<ConfigShare>& configs,
                         const std::string& command) {
  if (target.program.backend != "cuda") {
    throw UsageError("--device all needs the cuda back end. Drop --device all, or choose --backend cuda.");
  }
  const auto shares = share_out(configs, cards_of(study, target.program));
  std::vector<DeviceStudy> studies;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  for (std::size_t device = 0; device < shares.size(); ++device) {
    if (shares[device].empty()) continue;
    tell("allocbench: device {}: {}\n", device, fmt::join(shares[device], ", "));
    studies.push_back({device, start_on(self, arguments_of(study, device, shares[device]))});
  }
  const int worst = wait_for(studies);
  if (worst != exit_all_ok) {
    tell("allocbench: some cells failed or were not measured. To continue unfinished runs:\n  {}\n", command);
  }
  return interrupted() ? exit_interrupted : worst;
}

}  // namespace allocbench::front
