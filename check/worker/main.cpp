// The programs allocbench-worker-check and allocbench-worker-tsan read commands from a pipe and run models on
// allocators. Both search schedules for failures. allocbench-worker-tsan is built for ThreadSanitizer and also finds
// races. harness/README.md defines the protocol.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <exception>
#include <iostream>

#include "check/races.hpp"
#include "check/worker/server.hpp"
#include "harness/plugins/shared_objects.hpp"
#include "protocol/checker_json.hpp"

namespace {

constexpr int exit_usage = 2;

constexpr const char* examples = R"(To run it by hand:
  allocbench-worker-check --serve      then type one command per line:
    {"command":"explore","allocator":"cm_malloc_reworked","strategy":"swarm","seeds":1000,
     "model":{"name":"mine","threads_per_block":4,"steps":[{"do":"malloc","slot":0},{"do":"free","slot":0}]}}
    {"command":"quit"}
Exit codes: 0: done; 1: another error; 2: wrong usage; 64: malformed command, or the host lacks resources.)";

// Adds the subjects of usable plug-ins, and returns the unusable plug-ins.
std::vector<allocbench::protocol::BrokenPlugin> load_subjects(allocbench::check::SubjectList& subjects) {
  using AddSubjects = void(allocbench::check::SubjectList*);
  const std::string variant = allocbench::check::races_are_seen() ? "tsan" : "check";
  allocbench::LoadedFiles loaded = allocbench::load_files(allocbench::plugin_files(variant), variant, true);
  for (const allocbench::SharedObject& object : loaded.objects) {
    try {
      object.function<AddSubjects>("allocbench_add_subjects")(&subjects);
    } catch (const allocbench::BadPlugin& bad) {
      loaded.broken.push_back({object.file(), bad.what()});
    }
  }
  std::vector<allocbench::protocol::BrokenPlugin> broken;
  for (const allocbench::BrokenFile& each : loaded.broken) broken.push_back({each.file.stem().string(), each.reason});
  return broken;
}

}  // namespace

int main(int argc, char** argv) {
  // If the front end dies, its pipe closes. The next write then fails, and the worker ends with exit code 1.
  std::signal(SIGPIPE, SIG_IGN);
  const std::string program =
      allocbench::check::races_are_seen() ? "allocbench-worker-tsan" : "allocbench-worker-check";
  CLI::App app{program + ": searches allocators for bugs on the CPU executor"};
  app.footer(examples);
  bool serve = false;
  bool describe = false;
  int events_fd = 1;
  auto* mode = app.add_option_group("mode", "What to do");
  mode->add_flag("--serve", serve, "Answer protocol commands from standard input");
  mode->add_flag("--describe", describe, "Print allocators and models as JSON");
  mode->require_option(1);
  app.add_option("--events-fd", events_fd, "File descriptor for events")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : exit_usage;
  }
  try {
    allocbench::check::SubjectList subjects;
    const auto broken = load_subjects(subjects);
    if (describe) {
      std::cout << allocbench::protocol::to_json(allocbench::checker::describe(subjects, broken)).dump(2) << "\n";
      return 0;
    }
    const allocbench::protocol::LineWriter events(events_fd);
    return allocbench::checker::Server(subjects, events).serve(std::cin);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", program, error.what());
    return 1;
  }
}
