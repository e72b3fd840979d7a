#include "harness/worker/server.hpp"

#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "harness/worker/benchmark_batch.hpp"
#include "harness/worker/command.hpp"
#include "harness/worker/energy.hpp"
#include "harness/worker/failure.hpp"
#include "protocol/command_json.hpp"
#include "protocol/event_json.hpp"
#include "protocol/version.hpp"

namespace allocbench::worker {
namespace {

using protocol::Malformed;

std::optional<std::string> if_known(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

void append(protocol::Counted& counted, const std::vector<Histogram>& histograms) {
  for (const Histogram& histogram : histograms) {
    protocol::Counted::Histogram& bins = counted.histograms.emplace_back();
    bins.name = histogram.name;
    for (const auto& [first, count] : histogram.bins) bins.bins.push_back({first, count});
  }
}

protocol::Counted counted_of(const Verification& verification) {
  protocol::Counted counted;
  for (const auto& [metric, values] : verification.counted.values()) counted.values.push_back({metric, values});
  append(counted, verification.counted.histograms());
  if (!counted.has_counts()) counted = {};
  append(counted, verification.histograms);
  return counted;
}

}  // namespace

Server::Server(const Registry& registry, Backend& backend, const Nvml& nvml, const protocol::LineWriter& events,
               ProcessState& process)
    : registry_(registry),
      backend_(backend),
      events_(events),
      properties_(backend.properties()),
      process_(process),
      nvml_(nvml) {}

void Server::write(const Event& event) const { events_.write(protocol::to_json(event)); }

int Server::serve(std::istream& commands) {
  write(ready());
  const TimeShares::Scope waiting(process_.shares, Part::waiting);
  for (std::string line; std::getline(commands, line);) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;  // lines typed by hand may be empty
    try {
      const protocol::Command command = protocol::command_from_json(protocol::parse_object(line, "a command"));
      if (std::holds_alternative<protocol::Quit>(command)) break;
      write(std::visit(
          [&](const auto& each) -> Event {
            if constexpr (requires { answer(each); }) return answer(each);
            throw std::logic_error("quit has no answer");
          },
          command));
    } catch (const Malformed& error) {
      write(protocol::ProtocolError{error.what()});
      return protocol::exit_malformed_command;
    }
    if (fatal_) return protocol::exit_fatal;
  }
  return 0;
}

protocol::Event Server::ready() const {
  const GpuCondition condition = nvml_.condition();
  return protocol::Ready{.protocol = protocol::version,
                         .backend = backend_name(),
                         .device = {.name = properties_.name,
                                    .compute_capability = if_known(properties_.compute_capability),
                                    .driver = if_known(properties_.driver),
                                    .driver_version = nvml_.driver_version(),
                                    .toolkit = if_known(properties_.toolkit),
                                    .uuid = if_known(properties_.uuid),
                                    .sm_count = properties_.sm_count,
                                    .memory_bytes = properties_.memory_bytes,
                                    .free_memory_bytes = properties_.free_memory_bytes,
                                    .l2_bytes = properties_.l2_bytes,
                                    .sm_clock_mhz = condition.sm_clock_mhz,
                                    .sm_clock_max_mhz = nvml_.max_sm_clock_mhz(),
                                    .device_heap_bytes = backend_.device_heap_bytes(),
                                    .sm_clock_limit_mhz = nvml_.sm_clock_limit_mhz(),
                                    .throttle_reasons = condition.throttle_reasons,
                                    .other_processes = nvml_.other_processes(),
                                    .mig = nvml_.mig(),
                                    .ecc = nvml_.ecc()}};
}

template <class Work>
protocol::Event Server::attempt(const std::optional<std::string>& cell, Work&& work) {
  try {
    return work();
  } catch (const Malformed&) {
    throw;
  } catch (...) {
    const std::optional<CellFailure> failure = current_failure(allocator_->traits);
    if (!failure) throw;
    if (failure->status() == Status::device_fault) nvml_.require_gpu();
    fatal_ = failure->fatal();
    return protocol::Failed{cell, failure->status(), failure->what(), failure->fatal()};
  }
}

protocol::Event Server::answer(const protocol::LoadAllocator& command) {
  const AllocatorRequest request = resolve(command, registry_);
  cells_.clear();
  instance_.reset();
  allocator_ = request.entry;
  return attempt(std::nullopt, [&]() -> Event {
    const TimeShares::Scope creating(process_.shares, Part::allocator);
    instance_ = create_instance(*request.entry, backend_.stream(), request.pool_bytes, request.parameters, process_);
    return protocol::AllocatorReady{instance_->pool_bytes(), instance_->metadata_bytes(), instance_->init_seconds()};
  });
}

protocol::Event Server::answer(const protocol::OpenCell& command) {
  CellRequest request = resolve(command, registry_);
  request.long_warm_ups_count = backend_name() == "cuda";  // times of the CPU executor have no meaning
  if (!instance_) throw Malformed("open: no allocator is loaded; send \"allocator\" first");
  if (cells_.contains(command.cell)) throw Malformed("open: the cell " + command.cell + " is already open");
  return attempt(command.cell, [&]() -> Event {
    const TimeShares::Scope opening(process_.shares, Part::open);
    OpenCell cell{std::string(allocator_->traits.name) + "/" + std::string(request.workload->traits.name),
                  instance_->open(request), request.settings.energy_seconds};
    protocol::Opened opened{command.cell, {}, cell.cell->uses_device_heap()};
    for (const KernelInfo& kernel : cell.cell->kernels()) {
      if (kernel.attributes.registers == 0) continue;  // the CPU executor has no registers
      opened.kernels.push_back({kernel.phase, static_cast<std::uint64_t>(kernel.attributes.registers),
                                static_cast<std::uint64_t>(kernel.attributes.local_bytes)});
    }
    cells_.emplace(command.cell, std::move(cell));
    return opened;
  });
}

Server::OpenCell& Server::open_cell(const std::string& id) {
  const auto found = cells_.find(id);
  if (found == cells_.end()) throw Malformed("the cell " + id + " is not open");
  return found->second;
}

protocol::Event Server::answer(const protocol::VerifyCell& command) {
  OpenCell& cell = open_cell(command.cell);
  return attempt(command.cell, [&]() -> Event {
    const Verification result = cell.cell->verify(limits_of(command), listener(command.cell, command.stages));
    return protocol::Verified{command.cell,
                              {.null_returns = result.null_returns,
                               .blocks = result.blocks,
                               .content = result.content,
                               .leak_rounds = result.leak_rounds,
                               .leak = result.leak,
                               .spurious_nulls = result.spurious_nulls,
                               .reset = result.reset,
                               .trace = if_known(result.trace)},
                              counted_of(result),
                              result.stale};
  });
}

StageListener Server::listener(const std::string& cell, bool wanted) const {
  if (!wanted) return {};
  return [this, cell](Stage stage) { write(protocol::Stage{cell, std::string(word(stage))}); };
}

void Server::add_energy(OpenCell& cell, protocol::Sample& sample) {
  const double seconds = std::exchange(cell.energy_seconds, 0);
  EnergyMeter meter(
      {.joules = [&] { return nvml_.joules(); },
       .now = [] { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); },
       .sleep = [](double pause) { std::this_thread::sleep_for(std::chrono::duration<double>(pause)); }});
  const std::optional<Energy> energy = meter.measure(
      seconds, [&] { cell.cell->repeat(); }, [&] { cell.cell->prepare(); });
  double operations = 0;
  for (const Phase& phase : sample.phases) operations += static_cast<double>(phase.operations);
  if (!energy || operations == 0) return;
  const double millions = operations * 1e-6;
  sample.counters.emplace_back("energy_per_million", energy->joules / millions);
  sample.counters.emplace_back("energy_noise", energy->noise / millions);
  sample.counters.emplace_back("idle_power", energy->idle_watts);
}

protocol::Sample Server::sample(OpenCell& cell, const std::string& id, const StageListener& stages, double& seconds) {
  const auto start = std::chrono::steady_clock::now();
  const std::optional<bool> throttled_before = nvml_.throttled();
  Sample result = cell.cell->sample(stages);
  seconds = result.seconds;
  const GpuCondition after = nvml_.condition();
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  return {.cell = id,
          .phases = std::move(result.phases),
          .counters = std::move(result.counters),
          .sm_clock_mhz = after.sm_clock_mhz,
          .temperature_c = after.temperature_c,
          .throttled = throttled_before.value_or(false) ? true : nvml_.throttled(),
          .wall_seconds = wall.count(),
          .loop = {}};
}

// Each sample is written before the next one begins. The last sample is the answer.
protocol::Event Server::answer(const protocol::SampleCell& command) {
  OpenCell& cell = open_cell(command.cell);
  const std::uint32_t count = samples_of(command);
  return attempt(command.cell, [&]() -> Event {
    const TimeShares::Scope sampling(process_.shares, Part::other);
    const StageListener stages = listener(command.cell, command.stages);
    std::optional<protocol::Sample> last;
    const protocol::Loop loop = run_benchmark_batch(cell.name, count, [&] {
      if (last) write(*last);
      double seconds = 0;
      last = sample(cell, command.cell, stages, seconds);
      if (cell.energy_seconds > 0) add_energy(cell, *last);
      return seconds;
    });
    last->loop = loop;
    return *last;
  });
}

protocol::Event Server::answer(const protocol::AskProfile&) {
  protocol::Profile profile;
  const auto seconds = process_.shares.seconds();
  for (std::size_t part = 0; part < seconds.size(); ++part) {
    profile.seconds.emplace_back(TimeShares::names[part], seconds[part]);
  }
  profile.beside = process_.shares.beside();
  return profile;
}

protocol::Event Server::answer(const protocol::CloseCell& command) {
  open_cell(command.cell);
  cells_.erase(command.cell);
  return protocol::Closed{command.cell};
}

}  // namespace allocbench::worker
