// This is the program `allocbench`. This file turns every exception that ends the program into a message and an exit
// code.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <new>
#include <system_error>

#include "harness/front/cli/command_line.hpp"
#include "harness/front/common/errors.hpp"
#include "harness/front/common/output.hpp"

namespace {

using namespace allocbench::front;

int dispatch(const Command& command) {
  struct Dispatcher {
    int operator()(const RunOptions& options) const { return run_command(options); }
    int operator()(const StudyOptions& options) const { return study_command(options); }
    int operator()(const TryOptions& options) const { return try_command(options); }
    int operator()(const ListOptions& options) const { return list_command(options); }
    int operator()(const DescribeOptions& options) const { return describe_command(options); }
    int operator()(const ReportOptions& options) const { return report_command(options); }
    int operator()(const AdviseOptions& options) const { return advise_command(options); }
    int operator()(const CompareOptions& options) const { return compare_command(options); }
    int operator()(const MergeOptions& options) const { return merge_command(options); }
    int operator()(const CheckOptions& options) const {
      return options.coverage ? coverage_command(options) : check_command(options);
    }
    int operator()(const ProfileOptions& options) const { return profile_command(options); }
  };
  return std::visit(Dispatcher{}, command);
}

// Turns lost output into a failure, unless the exit code already reports wrong usage or an interruption. Output is
// lost, for example, if it is redirected to a full disk.
int after_output(int exit_code) {
  const int error = lost_output();
  if (error == 0 || exit_code == exit_usage || exit_code == exit_interrupted) return exit_code;
  throw EnvironmentError(fmt::format("Cannot write to stdout: {}.", std::strerror(error)));
}

}  // namespace

int main(int argc, char** argv) {
  // If standard streams are closed at the start, /dev/null takes their numbers, so that pipes do not get these
  // numbers.
  int descriptor = open("/dev/null", O_RDWR);
  while (descriptor >= 0 && descriptor <= STDERR_FILENO) descriptor = dup(descriptor);
  if (descriptor > STDERR_FILENO) close(descriptor);
  // SIGPIPE is ignored, so the run continues if a reader of the output ends (`| head`) or a worker dies.
  std::signal(SIGPIPE, SIG_IGN);

  try {
    const auto parsed = parse_command_line(argc, argv);
    const int* const answered = std::get_if<int>(&parsed);
    return after_output(answered != nullptr ? *answered : dispatch(std::get<Command>(parsed)));
  } catch (const UsageError& error) {
    tell("allocbench: {}\n", error.what());
    return exit_usage;
  } catch (const Interrupted&) {
    tell("allocbench: interrupted\n");
    return exit_interrupted;
  } catch (const EnvironmentError& error) {
    tell("allocbench: {}\n", error.what());
    return exit_environment;
  } catch (const std::bad_alloc&) {
    tell("allocbench: Not enough memory.\n");
    return exit_environment;
  } catch (const std::filesystem::filesystem_error& error) {
    const std::string path = error.path1().empty() ? "" : " for " + error.path1().string();
    tell("allocbench: The operating system refused a call{}: {}.\n", path, error.code().message());
    return exit_environment;
  } catch (const std::system_error& error) {
    tell("allocbench: The operating system refused a call: {}.\n", error.code().message());
    return exit_environment;
  } catch (const std::exception& error) {
    tell("allocbench: internal error: {}\n", error.what());
    return exit_environment;
  }
}
