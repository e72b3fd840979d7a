// A trace: the calls of malloc and free that an application made, kernel by kernel.
#pragma once

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

namespace allocbench::traces {

// A trace or its files are wrong; the text says where and what is allowed.
class TraceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

enum class Operation : std::uint8_t { malloc = 0, free = 1 };

// The block of a malloc that returned null, and of a free that named no block of the trace.
inline constexpr std::uint32_t no_block = std::numeric_limits<std::uint32_t>::max();

struct Call {
  std::uint64_t bytes = 0;     // of a malloc; 0 of a free
  std::uint32_t thread = 0;    // rank in the grid of its kernel
  std::uint32_t block = 0;     // number of the call that made it: of a malloc its own, or no_block
  std::uint32_t clock = 0;     // nanoseconds since the first call of the kernel, where the trace has clocks
  std::uint8_t alignment = 0;  // its binary logarithm; 0: the allocator's own
  Operation operation = Operation::malloc;

  bool operator==(const Call&) const = default;
};

struct Kernel {
  std::string name = {};
  std::uint32_t blocks = 0;
  std::uint32_t threads_per_block = 0;
  std::uint64_t calls = 0;  // in the trace
  std::uint64_t lost = 0;   // not recorded: the buffers were full

  std::uint64_t threads() const { return std::uint64_t{blocks} * threads_per_block; }
  bool operator==(const Kernel&) const = default;
};

struct Trace {
  std::string allocator = {};  // that served the application
  std::uint64_t pool_bytes = 0;
  bool has_clocks = false;
  std::vector<Kernel> kernels = {};  // in the order in which they ran
  // Kernel by kernel, in a kernel thread by thread, of a thread in its order.
  std::vector<Call> calls = {};

  std::uint64_t lost() const;
  bool operator==(const Trace&) const = default;
};

// Throws TraceError for calls that no program can have made: a free of a block that was not there, or of one that was
// freed before, threads outside their grid, another order. `place` begins the sentences.
void require_possible(const Trace& trace, const std::string& place);

// Requested bytes that are live at the end of each kernel.
std::vector<std::uint64_t> live_bytes(const Trace& trace);

// The most requested bytes that can be live together, whatever the order of the threads: each thread of a kernel is at
// the place where it holds the most, and nobody has freed blocks of others yet.
std::uint64_t peak_bytes(const Trace& trace);

}  // namespace allocbench::traces
