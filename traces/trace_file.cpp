#include "traces/trace_file.hpp"

#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "traces/npy.hpp"

namespace allocbench::traces {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr const char* format = "allocbench-trace";
constexpr int version = 1;
constexpr const char* clock_unit = "ns";

template <class T>
std::vector<T> column(const fs::path& folder, const char* name, std::size_t count) {
  const fs::path path = folder / (std::string(name) + ".npy");
  const std::vector<std::byte> bytes = read_npy(path, npy_type<T>());
  if (bytes.size() != count * sizeof(T)) {
    throw TraceError(path.string() + " has " + std::to_string(bytes.size() / sizeof(T)) + " elements; trace.json has " +
                     std::to_string(count) + " calls");
  }
  std::vector<T> values(count);
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

template <class T, class Member>
void write_column(const fs::path& folder, const char* name, const std::vector<Call>& calls, Member Call::*member) {
  std::vector<T> values;
  values.reserve(calls.size());
  for (const Call& call : calls) values.push_back(static_cast<T>(call.*member));
  write_npy(folder / (std::string(name) + ".npy"), npy_type<T>(), values.data(), values.size(), sizeof(T));
}

ordered_json parsed(const fs::path& path) {
  std::ifstream file(path);
  if (!file) {
    throw TraceError(path.string() + " cannot be opened: a trace is a folder with trace.json and NumPy arrays");
  }
  try {
    return ordered_json::parse(file);
  } catch (const ordered_json::exception& error) {
    throw TraceError(path.string() + " is damaged: " + error.what());
  }
}

Trace described(const fs::path& path) {
  const ordered_json json = parsed(path);
  try {
    if (json.at("format") != format) throw TraceError(path.string() + ": format is not \"" + format + "\"");
    if (json.at("version") != version) {
      throw TraceError(path.string() + ": version " + json.at("version").dump() + "; this program reads version " +
                       std::to_string(version) + ". Record the trace again, or use the program that wrote it.");
    }
    Trace trace;
    trace.allocator = json.at("allocator");
    trace.pool_bytes = json.at("pool_bytes");
    const ordered_json& clock = json.at("clock");
    if (!clock.is_null() && clock != clock_unit) throw TraceError(path.string() + ": clock is null or \"ns\"");
    trace.has_clocks = !clock.is_null();
    for (const ordered_json& kernel : json.at("kernels")) {
      trace.kernels.push_back({kernel.at("name"), kernel.at("blocks"), kernel.at("threads_per_block"),
                               kernel.at("calls"), kernel.at("lost")});
    }
    return trace;
  } catch (const ordered_json::exception& error) {
    throw TraceError(path.string() + " is damaged: " + error.what());
  }
}

}  // namespace

Trace read_trace(const fs::path& folder) {
  Trace trace = described(folder / "trace.json");
  std::uint64_t count = 0;
  for (const Kernel& kernel : trace.kernels) {
    if (kernel.calls >= no_block - count) {
      throw TraceError((folder / "trace.json").string() + ": a trace has at most " + std::to_string(no_block - 1) +
                       " calls");
    }
    count += kernel.calls;
  }
  const auto bytes = column<std::uint64_t>(folder, "bytes", count);
  const auto thread = column<std::uint32_t>(folder, "thread", count);
  const auto block = column<std::uint32_t>(folder, "block", count);
  const auto operation = column<std::uint8_t>(folder, "operation", count);
  const auto alignment = column<std::uint8_t>(folder, "alignment", count);
  const auto clock =
      trace.has_clocks ? column<std::uint32_t>(folder, "clock", count) : std::vector<std::uint32_t>(count);
  trace.calls.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    trace.calls[i] = {bytes[i], thread[i], block[i], clock[i], alignment[i], static_cast<Operation>(operation[i])};
  }
  require_possible(trace, folder.string());
  return trace;
}

void write_trace(const Trace& trace, const fs::path& folder) {
  require_possible(trace, folder.string());
  const fs::path description = folder / "trace.json";
  if (fs::exists(description)) throw TraceError(folder.string() + " already contains a trace: choose another folder");
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw TraceError(folder.string() + " cannot be created: " + error.message());
  write_column<std::uint64_t>(folder, "bytes", trace.calls, &Call::bytes);
  write_column<std::uint32_t>(folder, "thread", trace.calls, &Call::thread);
  write_column<std::uint32_t>(folder, "block", trace.calls, &Call::block);
  write_column<std::uint8_t>(folder, "operation", trace.calls, &Call::operation);
  write_column<std::uint8_t>(folder, "alignment", trace.calls, &Call::alignment);
  if (trace.has_clocks) write_column<std::uint32_t>(folder, "clock", trace.calls, &Call::clock);
  ordered_json json = {{"format", format},
                       {"version", version},
                       {"allocator", trace.allocator},
                       {"pool_bytes", trace.pool_bytes},
                       {"clock", trace.has_clocks ? ordered_json(clock_unit) : ordered_json(nullptr)},
                       {"kernels", ordered_json::array()}};
  for (const Kernel& kernel : trace.kernels) {
    json["kernels"].push_back({{"name", kernel.name},
                               {"blocks", kernel.blocks},
                               {"threads_per_block", kernel.threads_per_block},
                               {"calls", kernel.calls},
                               {"lost", kernel.lost}});
  }
  std::ofstream file(description);
  file << json.dump(1) << '\n';
  file.close();
  if (!file) throw TraceError(description.string() + " cannot be written");
}

}  // namespace allocbench::traces
