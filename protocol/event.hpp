// These are the answers of a measuring worker. harness/README.md describes them in a table. The event log stores
// devices, checks, counts and samples in the same form.
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

// The device of a worker. A member is absent if the back end does not know it.
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
  // The front end warns about unusual values of the following facts.
  std::optional<std::uint64_t> sm_clock_limit_mhz;           // clock set by an administrator, at most the maximum
  std::optional<std::vector<std::string>> throttle_reasons;  // reasons at the start; empty if there are none
  std::optional<std::uint64_t> other_processes;              // number of other processes that use the device
  std::optional<bool> mig;
  std::optional<bool> ecc;

  bool operator==(const Device&) const = default;
};

struct Ready {
  std::uint64_t protocol = 0;
  std::string backend;
  Device device;
};

// The machine cannot run this worker, or the machine failed during the work (a lost GPU, an ECC error).
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
  bool uses_device_heap = true;  // whether the cell's blocks may come from the device heap
};

// Results of the untimed passes. A member without a value was not determined. harness/README.md lists all verdicts.
struct Checks {
  std::optional<std::uint64_t> null_returns;
  std::optional<std::uint64_t> blocks;
  std::optional<std::string> content;  // "checked", "checked: N of M callers", "not finished: ..." or "waived: ..."
  std::optional<std::uint64_t> leak_rounds;
  std::optional<std::string> leak;  // "checked", "partial: ...", "not finished: ..." or "waived: ..."
  // Number of null pointers in the leak check for requests that the free memory had room for.
  std::optional<std::uint64_t> spurious_nulls;
  // `reset` can also be "partial: ..." if the time budget of its check ended.
  std::optional<std::string> reset;  // reset() and free(null): "checked: ...", "not finished: ..." or "waived: ..."
  // "N calls in K kernels" if the trace was written, followed by "; lost: ..." if calls were lost. Otherwise the text
  // is "not written: ..." or "not finished: ...".
  std::optional<std::string> trace = {};
};

// The counts of the untimed passes. An allocator that does not count has no values.
struct Counted {
  struct Values {
    std::string metric;
    std::vector<double> per_pass;
  };
  struct Bin {
    std::uint64_t first = 0;  // first value of the bin
    std::uint64_t count = 0;
  };
  struct Histogram {
    std::string name;
    std::vector<Bin> bins;
  };
  std::vector<Values> values;
  std::vector<Histogram> histograms;

  // Returns whether a count is not zero or, if there are no counts, whether the workload has its own histogram. An
  // allocator that does not use the counted vocabulary (the CUDA heap, foreign code) has zero operations although it
  // served requests. These zeros are not a measurement.
  bool has_counts() const;
};

struct Verified {
  std::string cell;
  Checks checks;
  Counted counted;
  bool stale = false;  // whether calls ended half-way, and only a new process can make the allocator new
};

// A run of the measuring loop, as Google Benchmark reports it.
struct Loop {
  std::uint64_t iterations = 0;
  double mean_seconds = 0;  // mean time of all phases together
};

struct Sample {
  std::string cell;
  std::vector<Phase> phases;
  std::vector<Counter> counters;
  std::optional<std::uint64_t> sm_clock_mhz;
  std::optional<std::uint64_t> temperature_c;
  std::optional<bool> throttled;
  std::optional<double> wall_seconds;
  std::optional<Loop> loop;  // measurement of the loop, with the last sample of a command
};

struct Closed {
  std::string cell;
};

// The wall time of the worker by part, since its start or, with --wait, since the second empty line. harness/README.md
// lists the parts.
struct Profile {
  std::vector<std::pair<std::string, double>> seconds;
  double beside = 0;  // seconds of the worker's start before it had the device for itself
};

// A stage of a repetition or of a verification begins. harness/README.md lists the stages. This is not a final event.
struct Stage {
  std::string cell;
  std::string stage;
};

// A waiting worker has loaded its plug-ins, the driver and NVML. It has not opened the device.
struct Loaded {};

// The reason that is given for a timeout at a deadline. A worker or the front end detects such a timeout. Deadlocks and
// livelocks have their own reasons.
inline constexpr const char* no_answer_reason = "no answer before the deadline";

struct Failed {
  std::optional<std::string> cell;
  Status status = Status::crashed;
  std::string reason;
  bool fatal = false;  // whether the worker ends
};

// The command was malformed, or a checking worker lacks resources of the host. The worker ends.
struct ProtocolError {
  std::string reason;
};

using Event = std::variant<Ready, NoEnvironment, AllocatorReady, Opened, Verified, Sample, Closed, Profile, Failed,
                           ProtocolError, Loaded, Stage>;

}  // namespace allocbench::protocol
