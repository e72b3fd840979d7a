// allocbench-worker-{cpu,cuda} has all allocators and workloads of one back end. The front end sends commands over a
// pipe (harness/README.md has the protocol), or a user runs one cell by hand.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <exception>
#include <iostream>

#include "harness/worker/backend.hpp"
#include "harness/worker/command.hpp"
#include "harness/worker/describe.hpp"
#include "harness/worker/plugins.hpp"
#include "harness/worker/process_state.hpp"
#include "harness/worker/run_by_hand.hpp"
#include "harness/worker/server.hpp"
#include "protocol/command_json.hpp"
#include "protocol/description_json.hpp"
#include "protocol/event_json.hpp"
#include "protocol/line_writer.hpp"
#include "protocol/version.hpp"
#include "simt/cuda/machine_fault.hpp"

namespace allocbench::worker {
namespace {

constexpr int exit_usage = 2;

struct Options {
  bool serve = false;
  bool wait = false;
  bool end_in_order = false;
  bool describe = false;
  std::string device_heap_for;
  std::string run;
  std::string plugin;
  std::uint32_t samples = 5;
  int events_fd = 1;
  BackendOptions backend;
};

constexpr const char* examples = R"(To run it by hand:
  allocbench-worker-cpu --run '{"allocator":"atomic_malloc","pool_bytes":67108864,"workload":"alloc_free",
                                "parameters":{"threads":10000}}' --samples 10
  allocbench-worker-cpu --serve      then type one command per line:
    {"command":"allocator","allocator":"atomic_malloc","parameters":{},"pool_bytes":67108864}
    {"command":"open","cell":"a","workload":"alloc_dealloc","parameters":{"blocks":8},"seed":1,"state":"fresh","warmups":1}
    {"command":"verify","cell":"a"}
    {"command":"sample","cell":"a"}
    {"command":"quit"}
Exit codes: 0: done; 1: the cell of --run is not ok; 2: wrong usage; 3: no usable device; 64: malformed command; 70: device lost.)";

std::size_t device_heap_for(const AllocatorRequest& request) {
  return request.entry->functions.device_heap_bytes(request.pool_bytes, request.parameters);
}

// Returns the size of the device heap, or nothing for the back end's default.
std::optional<std::size_t> device_heap_bytes(const Options& options, const Registry& registry) {
  if (!options.device_heap_for.empty()) {
    const protocol::Json question = protocol::parse_object(options.device_heap_for, "the question");
    return device_heap_for(resolve(protocol::allocator_request_from_json(question), registry));
  }
  if (options.run.empty() || options.backend.device_heap_bytes) return options.backend.device_heap_bytes;
  const std::size_t needed = device_heap_for(allocator_of(options.run, registry));
  return needed == 0 ? std::nullopt : std::optional(needed);
}

// Waits for two lines from the front end. The first line means that the previous worker launches nothing more. The
// second line means that the previous worker is gone. Returns false if the input ends, because then this worker is not
// needed.
bool wait_for_turn(const BackendOptions& options, const protocol::LineWriter& events, TimeShares& shares) {
  const auto next_line = [&] {
    const TimeShares::Scope waiting(shares, Part::waiting);
    std::string line;
    return static_cast<bool>(std::getline(std::cin, line));
  };
  events.write(protocol::to_json(protocol::Loaded{}));
  if (!next_line()) return false;
  open_context(options.device);
  if (!next_line()) return false;
  shares.begin_again();
  return true;
}

int serve(const Options& options, const BackendOptions& backend_options, const Registry& registry,
          ProcessState& process) {
  const protocol::LineWriter events(options.events_fd);
  const Nvml nvml(pci_bus_id(options.backend.device));
  if (options.wait && !wait_for_turn(options.backend, events, process.shares)) return 0;
  const auto no_environment = [&](const simt::Fault& fault) {
    events.write(protocol::to_json(protocol::NoEnvironment{fault.what()}));
    return protocol::exit_environment;
  };
  std::unique_ptr<Backend> backend;
  try {
    backend = open_backend(backend_options);
  } catch (const simt::Fault& fault) {
    return no_environment(fault);
  }
  try {
    Server server(registry, *backend, nvml, events, process);
    const int code = server.serve(std::cin);
    if (code == 0 && !options.end_in_order) end_at_once();
    return code;
  } catch (const simt::MachineFault& fault) {
    return no_environment(fault);
  }
}

int run(const Options& options, ProcessState& process) {
  const Registry registry = load_plugins(backend_name(), all_workloads(), options.plugin);
  try {
    if (options.describe) {
      std::cout << protocol::to_json(describe(registry)).dump(2) << "\n";
      return 0;
    }
    BackendOptions backend_options = options.backend;
    backend_options.device_heap_bytes = device_heap_bytes(options, registry);
    if (options.serve) return serve(options, backend_options, registry, process);
    if (options.run.empty()) {
      std::cout << *backend_options.device_heap_bytes << "\n";
      return 0;
    }
    const std::unique_ptr<Backend> backend = open_backend(backend_options);
    return run_by_hand(options.run, options.samples, registry, *backend, process);
  } catch (const protocol::Malformed& error) {
    fmt::print(stderr, "{}\n", error.what());
    return exit_usage;
  } catch (const simt::Fault& fault) {
    fmt::print(stderr, "{}\n", fault.what());
    return protocol::exit_environment;
  }
}

// Adds the group of modes, of which at most one is allowed, and the options for --serve.
CLI::App* add_modes(CLI::App& app, Options& options) {
  auto* mode = app.add_option_group("mode", "What to do");
  auto* serve = mode->add_flag("--serve", options.serve, "Answer protocol commands from standard input");
  mode->add_flag("--describe", options.describe, "Print allocators, workloads and metrics as JSON, without a device");
  mode->add_option("--run", options.run, "Verify and measure one cell given as JSON");
  mode->require_option(0, 1);
  app.add_flag("--wait", options.wait,
               "With --serve: load the plug-ins and report it, open the device at an empty line, and serve after a "
               "second one")
      ->needs(serve);
  app.add_flag("--end-in-order", options.end_in_order, "With --serve: free everything at the end, for leak checkers")
      ->needs(serve);
  return mode;
}

void add_settings(CLI::App& app, Options& options) {
  app.add_option("--device-heap-for", options.device_heap_for,
                 "Set the device heap to the size that {\"allocator\":..,\"parameters\":..,\"pool_bytes\":..} needs. "
                 "Without another mode, print that size");
  app.add_option("--plugin", options.plugin, "Load only this plug-in, named as --describe prints it");
  app.add_option("--samples", options.samples, "Samples of --run")
      ->check(CLI::Range(1u, 1'000'000u))
      ->capture_default_str();
  app.add_option("--events-fd", options.events_fd, "File descriptor for events")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--device", options.backend.device, "Ordinal of the device")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--device-heap-bytes", options.backend.device_heap_bytes,
                 "Size of the device heap, set before the first launch");
  if (backend_name() != "cpu") return;
  app.add_option("--os-threads", options.backend.os_threads, "OS threads that run blocks; 0 = one per core")
      ->capture_default_str();
  app.add_option("--deterministic", options.backend.deterministic_seed,
                 "Run on one OS thread, with the schedule of this seed");
  app.add_option("--lockstep", options.backend.lockstep_seed,
                 "As --deterministic, and advance the lanes of a warp together, call by call");
}

int main_of_worker(int argc, char** argv) {
  ProcessState process;
  Options options;
  CLI::App app{"allocbench worker for the " + backend_name() + " back end"};
  app.footer(examples);
  const CLI::App* mode = add_modes(app, options);
  add_settings(app, options);
  try {
    app.parse(argc, argv);
    if (mode->count_all() == 0 && options.device_heap_for.empty()) {
      throw CLI::RequiredError("--serve, --describe, --run or --device-heap-for");
    }
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : exit_usage;
  }
  try {
    return run(options, process);
  } catch (const std::exception& error) {
    fmt::print(stderr, "allocbench-worker-{}: {}\n", backend_name(), error.what());
    return 1;
  }
}

}  // namespace
}  // namespace allocbench::worker

int main(int argc, char** argv) {
  // If the front end dies, its pipe closes. Then a write fails with an error instead of a signal, and the worker ends
  // normally.
  std::signal(SIGPIPE, SIG_IGN);
  return allocbench::worker::main_of_worker(argc, argv);
}
