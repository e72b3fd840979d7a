// The program `allocbench`. Every error that ends it becomes one sentence and an exit code here.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <exception>

#include "harness/front/cli/command_line.hpp"
#include "harness/front/common/errors.hpp"

namespace {

using namespace allocbench::front;

int dispatch(const Command& command) {
  struct Dispatcher {
    int operator()(const RunOptions& options) const { return run_command(options); }
    int operator()(const ListOptions& options) const { return list_command(options); }
    int operator()(const DescribeOptions& options) const { return describe_command(options); }
    int operator()(const ReportOptions& options) const { return report_command(options); }
    int operator()(const CheckOptions& options) const { return check_command(options); }
  };
  return std::visit(Dispatcher{}, command);
}

}  // namespace

int main(int argc, char** argv) {
  // Started with closed standard streams, our pipes would get their numbers and be mistaken for them.
  int descriptor = open("/dev/null", O_RDWR);
  while (descriptor >= 0 && descriptor <= STDERR_FILENO) descriptor = dup(descriptor);
  if (descriptor > STDERR_FILENO) close(descriptor);

  try {
    const auto parsed = parse_command_line(argc, argv);
    if (const int* exit_code = std::get_if<int>(&parsed)) return *exit_code;
    return dispatch(std::get<Command>(parsed));
  } catch (const UsageError& error) {
    fmt::print(stderr, "allocbench: {}\n", error.what());
    return exit_usage;
  } catch (const EnvironmentError& error) {
    fmt::print(stderr, "allocbench: {}\n", error.what());
    return exit_environment;
  } catch (const std::exception& error) {
    fmt::print(stderr, "allocbench: {}\n", error.what());
    return exit_environment;
  }
}
