// A trace records the calls of malloc and free that an application made, kernel by kernel.
#pragma once

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

namespace allocbench::traces {

// TraceError reports a wrong trace, or trace files that cannot be read or written. It gives the place and the reason.
class TraceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

enum class Operation : std::uint8_t { malloc = 0, free = 1 };

// The value of Call::block for a malloc that returned null, and for a free of a block that is not in the trace.
inline constexpr std::uint32_t no_block = std::numeric_limits<std::uint32_t>::max();

struct Call {
  std::uint64_t bytes = 0;   // size of a malloc; 0 for a free
  std::uint32_t thread = 0;  // rank in the grid of the kernel
  std::uint32_t block = 0;   // number of the malloc that allocated the block, or no_block; for a malloc, its own number
  std::uint32_t clock = 0;   // nanoseconds since the first call of the kernel, if the trace has clocks
  std::uint8_t alignment = 0;  // binary logarithm of the alignment; 0: the allocator's own
  Operation operation = Operation::malloc;

  bool operator==(const Call&) const = default;
};

struct Kernel {
  std::string name = {};
  std::uint32_t blocks = 0;
  std::uint32_t threads_per_block = 0;
  std::uint64_t calls = 0;  // recorded calls
  std::uint64_t lost = 0;   // calls that were not recorded, because the buffers were full

  std::uint64_t threads() const { return std::uint64_t{blocks} * threads_per_block; }
  bool operator==(const Kernel&) const = default;
};

struct Trace {
  std::string allocator = {};  // allocator that served the application
  std::uint64_t pool_bytes = 0;
  bool has_clocks = false;
  std::vector<Kernel> kernels = {};  // kernels in the order in which they ran
  // Calls sorted by kernel, then by thread. The calls of a thread have their original order.
  std::vector<Call> calls = {};

  std::uint64_t lost() const;
  bool operator==(const Trace&) const = default;
};

// Throws TraceError for a trace that no program can have made. For example, the trace frees a block that does not exist
// or is already free, a thread is outside the grid, or the calls are not sorted by thread. `place` begins the messages.
void require_possible(const Trace& trace, const std::string& place);

// Returns the requested bytes that are live at the end of each kernel.
std::vector<std::uint64_t> live_bytes(const Trace& trace);

// Returns the largest sum of requested bytes that can be live together in any order of the threads. In the worst case,
// each thread of a kernel is at the place where its own blocks of this kernel have the most bytes, and no other block
// has been freed yet.
std::uint64_t peak_bytes(const Trace& trace);

}  // namespace allocbench::traces
