#include "harness/front/workers/worker_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/streambuf.hpp>
#include <boost/asio/write.hpp>
#include <boost/process/args.hpp>
#include <boost/process/child.hpp>
#include <boost/process/error.hpp>
#include <boost/process/extend.hpp>
#include <boost/process/group.hpp>
#include <boost/process/posix.hpp>
#include <cstring>
#include <istream>
#include <optional>
#include <thread>

#include "harness/front/common/errors.hpp"
#include "harness/front/common/interrupt.hpp"
#include "harness/front/common/time_limit.hpp"
#include "harness/front/workers/strays.hpp"
#include "harness/front/workers/worker_limits.hpp"

namespace allocbench::front {
namespace {

namespace asio = boost::asio;
namespace process = boost::process;
using boost::system::error_code;

constexpr std::size_t kept_output_bytes = 4096;
// No valid line is longer than this. Without this limit a broken worker could fill the memory.
constexpr std::size_t longest_line_bytes = 16u << 20;
constexpr auto poll_interval = std::chrono::milliseconds(100);

// Both ends are closed on exec, because a later worker must not keep the pipe of an earlier one open.
struct Pipe {
  int read_end = -1;
  int write_end = -1;
  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
      throw EnvironmentError(fmt::format("Cannot create a pipe: {}.", std::strerror(errno)));
    read_end = ends[0];
    write_end = ends[1];
  }
};

}  // namespace

std::string describe_death(int wait_status) {
  if (WIFSIGNALED(wait_status)) {
    const int signal = WTERMSIG(wait_status);
    const char* hint = signal == SIGKILL ? "; not by allocbench, so the host may have run out of memory" : "";
    return fmt::format("was killed by SIG{} ({}{})", sigabbrev_np(signal), strsignal(signal), hint);
  }
  return fmt::format("ended with exit code {}", WEXITSTATUS(wait_status));
}

struct WorkerProcess::State {
  asio::io_context io;
  asio::posix::stream_descriptor commands{io};
  asio::posix::stream_descriptor events{io};
  asio::posix::stream_descriptor output{io};
  asio::streambuf event_bytes{longest_line_bytes};
  std::optional<error_code> read_end;  // end of the read of a line; empty while it runs
  std::array<char, 4096> output_bytes{};
  std::string kept_output;
  bool output_open = true;
  process::group group;
  process::child child;
  std::optional<LiveWorker> alive;
  bool reaped = false;
  std::string death;

  void read_output() {
    output.async_read_some(asio::buffer(output_bytes), [this](const error_code& error, std::size_t count) {
      if (error) {
        output_open = false;
        return;
      }
      kept_output.append(output_bytes.data(), count);
      if (kept_output.size() > 2 * kept_output_bytes) {
        kept_output.erase(0, kept_output.size() - kept_output_bytes);
      }
      read_output();
    });
  }

  // Ends the read of a line. A line that has arrived remains for the next read.
  void cancel_read() {
    events.cancel();
    while (!read_end) {
      io.restart();
      io.run_one();
    }
  }

  // The last output of a dead worker may still be in the pipe.
  void drain_output() {
    const auto limit = Clock::now() + poll_interval;
    while (output_open && Clock::now() < limit) {
      io.restart();
      if (io.run_one_until(limit) == 0) break;
    }
  }
};

WorkerProcess::WorkerProcess(const WorkerProgram& program, const std::vector<std::string>& arguments)
    : state_(std::make_unique<State>()) {
  const Pipe commands, events, output;
  state_->commands.assign(commands.write_end);
  state_->events.assign(events.read_end);
  state_->output.assign(output.read_end);

  std::vector<std::string> all = {"--serve", "--events-fd", std::to_string(events.write_end)};
  all.insert(all.end(), arguments.begin(), arguments.end());
  const pid_t parent = getpid();
  const auto in_child = [&](auto&) {
    // The event pipe keeps its number, and only this child may inherit it.
    fcntl(events.write_end, F_SETFD, 0);
    // The worker dies with this program, even if kill -9 ends this program.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    // This program may have ended before the call of prctl(), so the worker checks its parent.
    if (getppid() != parent) _exit(127);
    ::signal(SIGPIPE, SIG_DFL);
  };
  std::error_code error;
  state_->child =
      process::child(program.path, process::args(all), process::posix::fd.bind(0, commands.read_end),
                     process::posix::fd.bind(1, output.write_end), process::posix::fd.bind(2, output.write_end),
                     state_->group, process::extend::on_exec_setup(in_child), error);
  for (const int fd : {commands.read_end, events.write_end, output.write_end}) close(fd);
  if (error) {
    state_->reaped = true;
    throw EnvironmentError(fmt::format("{} cannot be started: {}.", program.path, error.message()));
  }
  state_->alive.emplace(state_->child.id());
  state_->read_output();
}

void WorkerProcess::take_along() { set_group_to_kill(state_->child.id()); }

WorkerProcess::~WorkerProcess() {
  try {
    kill();
  } catch (const EnvironmentError&) {
    // A worker that cannot be killed becomes a stray process (strays.hpp).
  }
}

void WorkerProcess::send(const std::string& command) {
  error_code ignored;
  asio::write(state_->commands, asio::buffer(command + "\n"), ignored);
}

WorkerReply WorkerProcess::next_line(Clock::time_point deadline, const std::function<void()>& idle) {
  State& state = *state_;
  std::optional<error_code>& outcome = state.read_end;
  outcome.reset();
  asio::async_read_until(state.events, state.event_bytes, '\n',
                         [&state](const error_code& error, std::size_t) { state.read_end = error; });
  bool cut_short = false;
  while (!outcome) {
    if (interrupted() && !cut_short) {
      cut_short = true;
      deadline = std::min(deadline, Clock::now() + duration_of(interrupt_grace_seconds));
    }
    const auto now = Clock::now();
    if (now >= deadline) break;
    state.io.restart();
    state.io.run_one_until(std::min(deadline, now + poll_interval));
    if (outcome) break;
    try {
      idle();
    } catch (...) {
      state.cancel_read();
      throw;
    }
  }
  if (!outcome) {
    state.cancel_read();
    // The cancelled read has an error, unless a line arrived at the last moment.
    if (*outcome) return {cut_short ? WorkerReply::Kind::interrupted : WorkerReply::Kind::deadline, "", ""};
  }
  if (!*outcome) {
    std::istream stream(&state.event_bytes);
    WorkerReply reply;
    std::getline(stream, reply.line);
    return reply;
  }
  const bool too_long = *outcome == asio::error::not_found;
  std::string death = too_long ? "" : reap(quit_limit_seconds);
  if (too_long) {
    kill();
    death = fmt::format("wrote a line of more than {} MiB", longest_line_bytes >> 20);
  } else if (death.empty()) {
    kill();
    death = "closed its event pipe but kept running";
  }
  return {WorkerReply::Kind::died, "", death};
}

// Returns how the worker ended, or an empty text if it still runs at the time limit.
std::string WorkerProcess::reap(double limit_seconds) {
  State& state = *state_;
  const auto limit = Clock::now() + duration_of(limit_seconds);
  while (!state.reaped) {
    int status = 0;
    const pid_t result = waitpid(state.child.id(), &status, WNOHANG);
    if (result == state.child.id() || (result < 0 && errno == ECHILD)) {
      state.reaped = true;
      state.alive.reset();
      state.death = result < 0 ? "ended" : describe_death(status);
      state.drain_output();
      // Kills the children that the worker left in its process group.
      ::kill(-state.child.id(), SIGKILL);
      clear_group_to_kill(state.child.id());
      break;
    }
    if (Clock::now() >= limit) return "";
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return state.death;
}

void WorkerProcess::finish(double reap_seconds) {
  error_code ignored;
  state_->commands.close(ignored);
  if (reap(quit_limit_seconds).empty()) kill(reap_seconds);
}

void WorkerProcess::begin_kill() {
  State& state = *state_;
  if (state.reaped) return;
  ::kill(-state.child.id(), SIGKILL);
  // The output is read here, because the end of the cell is written before the process is gone.
  state.io.restart();
  state.io.poll();
}

void WorkerProcess::kill(double reap_seconds) {
  State& state = *state_;
  if (!state.reaped) {
    const pid_t pid = state.child.id();
    ::kill(-pid, SIGKILL);
    if (reap(reap_seconds).empty()) {
      state.child.detach();
      state.reaped = true;
      throw EnvironmentError(
          fmt::format("Worker {} cannot be killed (stuck in the driver). Reset the GPU or reboot.", pid));
    }
  }
  state.child.detach();  // the process is reaped, so Boost.Process must not wait for an id that may be reused
  if (state.group.valid()) state.group.detach();
}

std::string WorkerProcess::output_tail() const {
  const std::string& text = state_->kept_output;
  if (text.size() <= kept_output_bytes) return text;
  // If the kept text has a newline, the result begins with a whole line.
  const auto start = text.find('\n', text.size() - kept_output_bytes);
  return text.substr(start == std::string::npos ? text.size() - kept_output_bytes : start + 1);
}

}  // namespace allocbench::front
