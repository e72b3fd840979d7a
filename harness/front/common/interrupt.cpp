#include "harness/front/common/interrupt.hpp"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <string_view>

#include "harness/front/common/errors.hpp"

namespace allocbench::front {
namespace {

// The signal handler accesses these variables, so they are lock-free atomics.
std::atomic<int> signals_seen{0};
std::atomic<pid_t> group_to_kill{0};
static_assert(std::atomic<pid_t>::is_always_lock_free);

// When a terminal closes, both its shell and the kernel send a hang-up. The second one is not a second interruption by
// the user.
void on_signal(int signal) {
  if (signals_seen.fetch_add(1) == 0 || signal == SIGHUP) return;
  const pid_t group = group_to_kill.load();
  if (group > 0) kill(-group, SIGKILL);
  constexpr std::string_view text = "\nallocbench: aborted. Logs of measurements are intact.\n";
  [[maybe_unused]] const auto written = write(STDERR_FILENO, text.data(), text.size());
  _exit(exit_interrupted);
}

}  // namespace

void install_interrupt_handlers() {
  struct sigaction action = {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  for (const int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
  struct sigaction inherited = {};
  sigaction(SIGHUP, nullptr, &inherited);
  if (inherited.sa_handler != SIG_IGN)
    sigaction(SIGHUP, &action, nullptr);  // otherwise the user started the program with nohup
}

bool interrupted() { return signals_seen.load() > 0; }

void set_group_to_kill(pid_t group) { group_to_kill.store(group); }

void clear_group_to_kill(pid_t group) { group_to_kill.compare_exchange_strong(group, 0); }

}  // namespace allocbench::front
