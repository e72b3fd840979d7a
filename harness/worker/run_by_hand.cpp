#include "harness/worker/run_by_hand.hpp"

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/worker/benchmark_batch.hpp"
#include "harness/worker/failure.hpp"
#include "harness/worker/process_state.hpp"
#include "protocol/command_json.hpp"

namespace allocbench::worker {

AllocatorRequest allocator_of(const std::string& cell_text, const Registry& registry) {
  protocol::Json command = protocol::parse_object(cell_text, "the cell");
  command.erase("parameters");
  if (command.contains("allocator_parameters")) command["parameters"] = command["allocator_parameters"];
  return resolve(protocol::allocator_request_from_json(command), registry);
}

int run_by_hand(const std::string& cell_text, std::uint32_t samples, const Registry& registry, Backend& backend,
                ProcessState& process) {
  const AllocatorRequest allocator = allocator_of(cell_text, registry);
  const CellRequest request =
      resolve(protocol::cell_request_from_json(protocol::parse_object(cell_text, "the cell")), registry);
  try {
    const TimeShares::Scope creating(process.shares, Part::allocator);
    const auto instance =
        create_instance(*allocator.entry, backend.stream(), allocator.pool_bytes, allocator.parameters, process);
    TimeShares::Scope opening(process.shares, Part::open);
    const auto cell = instance->open(request);
    TimeShares::Scope sampling(process.shares, Part::other);
    const Verification checks = cell->verify({}, {});
    fmt::print(stderr, "verified: {} blocks, contents {}, leak {} ({} rounds), {} spurious nulls, reset {}\n",
               checks.blocks.value_or(0), checks.content, checks.leak, checks.leak_rounds.value_or(0),
               checks.spurious_nulls.value_or(0), checks.reset);
    for (const auto& [metric, values] : checks.counted.values()) {
      fmt::print(stderr, "counted: {} {}\n", metric, fmt::join(values, " "));
    }
    benchmark::ConsoleReporter console(benchmark::ConsoleReporter::OO_Tabular);
    Sample last;
    run_benchmark_batch(
        fmt::format("{}/{}", allocator.entry->traits.name, request.workload->traits.name), samples,
        [&] {
          last = cell->sample({});
          return last.seconds;
        },
        &console);
    for (const Phase& phase : last.phases) {
      fmt::print("last sample: {} {:.3f} us, {} operations{}\n", phase.name, phase.seconds * 1e6, phase.operations,
                 phase.not_held.empty() ? "" : ", not held back: " + phase.not_held);
    }
    for (const auto& [name, value] : last.counters) fmt::print("last sample: {} {}\n", name, value);
    const auto seconds = process.shares.seconds();
    for (std::size_t part = 0; part < seconds.size(); ++part) {
      fmt::print("wall time: {} {:.3f} ms\n", TimeShares::names[part], seconds[part] * 1e3);
    }
    return 0;
  } catch (...) {
    const std::optional<CellFailure> failure = current_failure(allocator.entry->traits);
    if (!failure) throw;
    fmt::print(stderr, "{}: {}\n", word(failure->status()), failure->what());
    return 1;
  }
}

}  // namespace allocbench::worker
