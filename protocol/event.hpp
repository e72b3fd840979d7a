// What a measuring worker answers (harness/README.md has the table). The same structs are stored in the event log.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "protocol/sample.hpp"
#include "protocol/status.hpp"

namespace allocbench::protocol {

// Every member is absent where the back end does not know it.
struct Device {
  std::string name;
  std::optional<std::string> compute_capability;
  std::optional<std::string> driver;
  std::optional<std::string> driver_version;
  std::optional<std::string> toolkit;
  std::optional<std::string> uuid;
  std::optional<std::uint64_t> sm_count;
  std::optional<std::uint64_t> memory_bytes;
  std::optional<std::uint64_t> free_memory_bytes;
  std::optional<std::uint64_t> l2_bytes;
  std::optional<std::uint64_t> sm_clock_mhz;
  std::optional<std::uint64_t> sm_clock_max_mhz;
  std::optional<std::uint64_t> device_heap_bytes;
  // What the front end warns about.
  std::optional<std::uint64_t> sm_clock_limit_mhz;           // set by an administrator, below the maximum or at it
  std::optional<std::vector<std::string>> throttle_reasons;  // at the start; empty: none
  std::optional<std::uint64_t> other_processes;              // that compute on the device
  std::optional<bool> mig;
  std::optional<bool> ecc;

  bool operator==(const Device&) const = default;
};

struct Ready {
  std::uint64_t protocol = 0;
  std::string backend;
  Device device;
};

// The machine cannot run this worker.
struct NoEnvironment {
  std::string reason;
};

struct AllocatorReady {
  std::uint64_t pool_bytes = 0;
  std::uint64_t metadata_bytes = 0;
  double init_seconds = 0;
};

struct Kernel {
  std::string phase;
  std::uint64_t registers = 0;
  std::uint64_t local_bytes = 0;
};

struct Opened {
  std::string cell;
  std::vector<Kernel> kernels;
  bool uses_device_heap = true;  // its blocks may come from there
};

// What the untimed passes checked; absent = not looked at.
struct Checks {
  std::optional<std::uint64_t> null_returns;
  std::optional<std::uint64_t> blocks;
  std::optional<std::string> content;  // "checked", "checked: N of M callers", "not finished: ..." or "waived: ..."
  std::optional<std::uint64_t> leak_rounds;
  std::optional<std::string> leak;              // "checked", "partial: ...", "not finished: ..." or "waived: ..."
  std::optional<std::uint64_t> spurious_nulls;  // refusals in the leak check, whose requests fit the free memory
  std::optional<std::string> reset;  // reset() and free(null): "checked: ...", "not finished: ..." or "waived: ..."
  std::optional<std::string> trace = {};  // "N calls in K kernels", with what was lost, or "not written: ..."
};

// What the untimed passes counted. An allocator that does not count has no values at all.
struct Counted {
  struct Values {
    std::string metric;
    std::vector<double> per_pass;
  };
  struct Bin {
    std::uint64_t first = 0;  // value
    std::uint64_t count = 0;
  };
  struct Histogram {
    std::string name;
    std::vector<Bin> bins;
  };
  std::vector<Values> values;
  std::vector<Histogram> histograms;

  // Whether anything but zeros was counted, or the workload has a histogram of its own. An allocator that does not use
  // the counted vocabulary (the CUDA heap, foreign code) counts zero operations for requests that it served; that is
  // not a measurement.
  bool has_counts() const;
};

struct Verified {
  std::string cell;
  Checks checks;
  Counted counted;
  bool stale = false;  // calls ended half-way, and only a new process makes the allocator new again
};

// A run of the measuring loop, as Google Benchmark reports it.
struct Loop {
  std::uint64_t iterations = 0;
  double mean_seconds = 0;  // of all phases together
};

struct Sample {
  std::string cell;
  std::vector<Phase> phases;
  std::vector<Counter> counters;
  std::optional<std::uint64_t> sm_clock_mhz;
  std::optional<std::uint64_t> temperature_c;
  std::optional<bool> throttled;
  std::optional<double> wall_seconds;
  std::optional<Loop> loop;  // with the last sample of a command
};

struct Closed {
  std::string cell;
};

// Where the worker's wall time went since its start, by part (harness/README.md names them).
struct Profile {
  std::vector<std::pair<std::string, double>> seconds;
  double beside = 0;  // of its start, before it had the device for itself
};

// A stage of a repetition or of a verification begins (harness/README.md names them). Not a final event.
struct Stage {
  std::string cell;
  std::string stage;
};

// A worker that waits for its turn has loaded everything that needs no device.
struct Loaded {};

// The reason of a timeout of the clock, noticed by either side. A deadlock or a livelock has a reason of its own.
inline constexpr const char* no_answer_reason = "no answer before the deadline";

struct Failed {
  std::optional<std::string> cell;
  Status status = Status::crashed;
  std::string reason;
  bool fatal = false;  // the worker ends
};

// The command was malformed; the worker ends.
struct ProtocolError {
  std::string reason;
};

using Event = std::variant<Ready, NoEnvironment, AllocatorReady, Opened, Verified, Sample, Closed, Profile, Failed,
                           ProtocolError, Loaded, Stage>;

}  // namespace allocbench::protocol
