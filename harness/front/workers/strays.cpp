#include "harness/front/workers/strays.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

namespace allocbench::front {
namespace {

namespace fs = std::filesystem;

// Stray processes of ordinary plug-ins need fewer rounds. Without a limit, a plug-in that forks faster than this
// program kills would block this program forever.
constexpr int most_rounds = 1000;

std::set<pid_t>& live_workers() {
  static std::set<pid_t> pids;
  return pids;
}

std::vector<pid_t> children() {
  std::vector<pid_t> pids;
  std::error_code error;
  for (const fs::directory_entry& task : fs::directory_iterator("/proc/self/task", error)) {
    std::ifstream file(task.path() / "children");
    for (pid_t pid = 0; file >> pid;) pids.push_back(pid);
  }
  return pids;
}

std::string name_of(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/comm", pid));
  std::string name;
  std::getline(file, name);
  return fmt::format("{} (process {})", name.empty() ? "unnamed" : name, pid);
}

// Returns whether the process is a zombie, which disturbs nothing and only has to be reaped.
bool is_dead(pid_t pid) {
  siginfo_t info = {};
  return waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid;
}

// Returns false if a killed process still exists after a second.
bool reap(pid_t pid) {
  for (int attempt = 0; attempt < 1000; ++attempt) {
    if (waitpid(pid, nullptr, WNOHANG) != 0) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

}  // namespace

LiveWorker::LiveWorker(pid_t pid) : pid_(pid) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  live_workers().insert(pid);
}

LiveWorker::~LiveWorker() { live_workers().erase(pid_); }

std::vector<std::string> kill_strays() {
  static std::set<pid_t> unkillable;  // processes that are stuck in a driver call
  std::vector<std::string> killed;
  for (int round = 0; round < most_rounds; ++round) {
    bool found = false;
    for (const pid_t pid : children()) {
      if (live_workers().contains(pid) || unkillable.contains(pid)) continue;
      found = true;
      if (!is_dead(pid)) {
        killed.push_back(name_of(pid));
        kill(pid, SIGKILL);
      }
      if (!reap(pid)) unkillable.insert(pid);  // the children of a dead process become ours
    }
    if (!found) break;
  }
  return killed;
}

}  // namespace allocbench::front
