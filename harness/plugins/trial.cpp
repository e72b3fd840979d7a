#include "harness/plugins/trial.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

namespace allocbench {
namespace {

constexpr unsigned load_limit_seconds = 20;

// Loads the files one by one. Writes a byte after each file that did not kill the process.
[[noreturn]] void load_all(const std::vector<std::filesystem::path>& files, int progress) {
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  for (const auto& file : files) {
    alarm(load_limit_seconds);
    static_cast<void>(dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL));
    if (write(progress, "", 1) != 1) break;
  }
  _exit(0);
}

std::string describe_end(int status) {
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    return std::string("loading it was ended by SIG") + sigabbrev_np(signal) + " (" + strsignal(signal) + ")";
  }
  return "loading it ended the process with exit code " + std::to_string(WEXITSTATUS(status));
}

std::size_t count_bytes(int descriptor) {
  std::size_t count = 0;
  char bytes[64];
  for (;;) {
    const ssize_t got = read(descriptor, bytes, sizeof bytes);
    if (got > 0) count += static_cast<std::size_t>(got);
    if (got == 0 || (got < 0 && errno != EINTR)) return count;
  }
}

}  // namespace

std::optional<LoadingDeath> death_while_loading(const std::vector<std::filesystem::path>& files) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe2");
  const pid_t child = fork();
  if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (child == 0) load_all(files, ends[1]);
  close(ends[1]);
  const std::size_t harmless = count_bytes(ends[0]);
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (harmless >= files.size()) return std::nullopt;
  return LoadingDeath{harmless, describe_end(status)};
}

}  // namespace allocbench
