#include "workloads/support/verification/trace_pass.hpp"

#include "traces/trace_file.hpp"
#include "workloads/support/contract/outcome.hpp"

namespace allocbench {
namespace {

std::string why_untraceable(const Traits& traits) {
  const std::string name(traits.display_name);
  if (traits.frees == Frees::in_bulk) return name + " frees in bulk; a trace has frees of single blocks";
  if (traits.pool != PoolLocation::arena && traits.pool != PoolLocation::own) {
    return name + " keeps blocks in the device heap; a trace names the blocks of a pool";
  }
  return "";
}

Pool traceable_pool(const Traits& traits, const PointerRules& rules) {
  fail_if_unsupported(why_untraceable(traits));
  return {reinterpret_cast<std::byte*>(rules.pool_begin), rules.pool_end - rules.pool_begin};
}

std::string counted(std::uint64_t count, const char* noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

}  // namespace

TracePass::TracePass(simt::Stream& stream, const AllocatorHandle& allocator, const PointerRules& rules,
                     std::size_t pool_bytes, std::uint32_t calls)
    : allocator_(allocator),
      recorder_(stream, traceable_pool(allocator.traits(), rules), allocator.traits().alignment,
                {.calls_per_kernel = calls}) {
  recorder_.trace().allocator = std::string(allocator.traits().name);
  recorder_.trace().pool_bytes = pool_bytes;
}

std::string TracePass::write(const std::string& folder) const {
  const traces::Trace& trace = recorder_.trace();
  try {
    traces::write_trace(trace, folder);
  } catch (const traces::TraceError& error) {
    return std::string("not written: ") + error.what();
  }
  std::string text = counted(trace.calls.size(), "call") + " in " + counted(trace.kernels.size(), "kernel");
  if (trace.lost() != 0) text += "; lost: " + counted(trace.lost(), "call") + ", raise trace_calls";
  return text;
}

}  // namespace allocbench
