#include "harness/worker/server.hpp"

#include <chrono>

#include "harness/worker/benchmark_batch.hpp"
#include "harness/worker/command.hpp"
#include "harness/worker/describe.hpp"
#include "harness/worker/failure.hpp"

namespace allocbench::worker {
namespace {

using nlohmann::ordered_json;

template <class T>
ordered_json or_null(const std::optional<T>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

ordered_json or_null(const std::string& text) { return text.empty() ? ordered_json(nullptr) : ordered_json(text); }

// Metrics with a value per pass, and histograms over all passes as [first value of the bin, count].
ordered_json counted_json(const CallStatistics& counted) {
  ordered_json json{{"values", ordered_json::object()}, {"histograms", ordered_json::object()}};
  for (const auto& [metric, values] : counted.values()) json["values"][metric] = values;
  for (const Histogram& histogram : counted.histograms()) {
    ordered_json& bins = json["histograms"][histogram.name] = ordered_json::array();
    for (const auto& [first, count] : histogram.bins) bins.push_back({first, count});
  }
  return json;
}

}  // namespace

Server::Server(const Registry& registry, Backend& backend, EventWriter& events)
    : registry_(registry),
      backend_(backend),
      events_(events),
      properties_(backend.properties()),
      nvml_(properties_.pci_bus_id) {}

int Server::serve(std::istream& commands) {
  events_.write(ready());
  for (std::string line; !ending_ && std::getline(commands, line);) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;  // typed by hand
    try {
      const Event event = answer(parse_command(line));
      if (!event.is_null()) events_.write(event);
    } catch (const BadCommand& error) {
      events_.write({{"event", "protocol_error"}, {"reason", error.what()}});
      return exit_protocol_error;
    }
    if (fatal_) return exit_fatal;
  }
  cells_.clear();
  instance_.reset();
  return 0;
}

Server::Event Server::ready() const {
  const GpuCondition condition = nvml_.condition();
  const Event device{{"name", properties_.name},
                     {"compute_capability", or_null(properties_.compute_capability)},
                     {"driver", or_null(properties_.driver)},
                     {"driver_version", or_null(nvml_.driver_version())},
                     {"toolkit", or_null(properties_.toolkit)},
                     {"uuid", or_null(properties_.uuid)},
                     {"sm_count", properties_.sm_count},
                     {"memory_bytes", properties_.memory_bytes},
                     {"free_memory_bytes", properties_.free_memory_bytes},
                     {"l2_bytes", properties_.l2_bytes},
                     {"sm_clock_mhz", or_null(condition.sm_clock_mhz)},
                     {"sm_clock_max_mhz", or_null(nvml_.max_sm_clock_mhz())},
                     {"device_heap_bytes", backend_.device_heap_bytes()}};
  return {{"event", "ready"}, {"protocol", protocol_version}, {"backend", backend_name()}, {"device", device}};
}

Server::Event Server::answer(const Json& command) {
  const std::string name = text_member(command, "command");
  if (name == "allocator") return create_allocator(command);
  if (name == "open") return open(command);
  if (name == "verify") return verify(command);
  if (name == "sample") return sample(command);
  if (name == "close") return close(command);
  if (name == "quit") {
    ending_ = true;
    return nullptr;
  }
  throw BadCommand("there is no command \"" + name + "\"; known are allocator, open, verify, sample, close, quit");
}

template <class Work>
Server::Event Server::attempt(const Json& command, Work&& work) {
  try {
    return work();
  } catch (const BadCommand&) {
    throw;
  } catch (...) {
    const std::optional<CellFailure> failure = current_failure(allocator_->traits);
    if (!failure) throw;
    fatal_ = failure->fatal();
    Event event{{"event", "failed"}};
    if (command.contains("cell")) event["cell"] = command["cell"];
    event["status"] = status_word(failure->status());
    event["reason"] = failure->what();
    event["fatal"] = failure->fatal();
    return event;
  }
}

Server::Event Server::create_allocator(const Json& command) {
  const AllocatorRequest request = read_allocator_request(command, registry_);
  cells_.clear();
  instance_.reset();
  allocator_ = request.entry;
  return attempt(command, [&]() -> Event {
    instance_ = create_instance(*request.entry, backend_.stream(), request.pool_bytes, request.parameters);
    return {{"event", "allocator_ready"},
            {"pool_bytes", instance_->pool_bytes()},
            {"metadata_bytes", instance_->metadata_bytes()},
            {"init_seconds", instance_->init_seconds()}};
  });
}

Server::Event Server::open(const Json& command) {
  const std::string hash = text_member(command, "cell");
  const CellRequest request = read_cell_request(command, registry_);
  if (!instance_) throw BadCommand("open: there is no allocator yet; send \"allocator\" first");
  if (cells_.contains(hash)) throw BadCommand("open: the cell " + hash + " is open already");
  return attempt(command, [&]() -> Event {
    OpenCell cell{std::string(allocator_->traits.name) + "/" + std::string(request.workload->traits.name),
                  instance_->open(request)};
    Event kernels = Event::array();
    for (const KernelInfo& kernel : cell.cell->kernels()) {
      kernels.push_back({{"phase", kernel.phase},
                         {"registers", kernel.attributes.registers},
                         {"local_bytes", kernel.attributes.local_bytes}});
    }
    cells_.emplace(hash, std::move(cell));
    return {{"event", "opened"}, {"cell", hash}, {"kernels", kernels}};
  });
}

Server::OpenCell& Server::cell_of(const Json& command) {
  const std::string hash = text_member(command, "cell");
  const auto found = cells_.find(hash);
  if (found == cells_.end()) throw BadCommand("the cell " + hash + " is not open");
  return found->second;
}

Server::Event Server::verify(const Json& command) {
  OpenCell& open_cell = cell_of(command);
  return attempt(command, [&]() -> Event {
    const Verification result = open_cell.cell->verify();
    return {{"event", "verified"},
            {"cell", command["cell"]},
            {"checks",
             {{"null_returns", result.null_returns},
              {"blocks", result.blocks},
              {"content", result.content},
              {"leak_rounds", result.leak_rounds},
              {"leak", result.leak}}},
            {"counted", counted_json(result.counted)}};
  });
}

Server::Event Server::sample(const Json& command) {
  OpenCell& open_cell = cell_of(command);
  return attempt(command, [&]() -> Event {
    const auto start = std::chrono::steady_clock::now();
    const std::optional<bool> throttled_before = nvml_.condition().throttled;
    Sample result;
    run_benchmark_batch(open_cell.name, 1, [&] {
      result = open_cell.cell->sample();
      return total_seconds(result);
    });
    const GpuCondition after = nvml_.condition();
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;

    Event phases = Event::array();
    for (const Phase& phase : result.phases) {
      phases.push_back({{"name", phase.name}, {"seconds", phase.seconds}, {"operations", phase.operations}});
    }
    Event counters = Event::object();
    for (const auto& [name, value] : result.counters) counters[name] = value;
    Event throttled = or_null(after.throttled);
    if (throttled_before.value_or(false)) throttled = true;
    return {{"event", "sample"},
            {"cell", command["cell"]},
            {"phases", phases},
            {"counters", counters},
            {"sm_clock_mhz", or_null(after.sm_clock_mhz)},
            {"temperature_c", or_null(after.temperature_c)},
            {"throttled", throttled},
            {"wall_seconds", wall.count()}};
  });
}

Server::Event Server::close(const Json& command) {
  cell_of(command);
  const std::string hash = text_member(command, "cell");
  cells_.erase(hash);
  return {{"event", "closed"}, {"cell", hash}};
}

}  // namespace allocbench::worker
