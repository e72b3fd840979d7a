#include "workloads/support/verification/content_verdict.hpp"

#include <array>
#include <cstdio>
#include <stdexcept>

namespace allocbench {
namespace {

constexpr std::array<const char*, content_fault_kinds> names{
    "returned a block outside of the pool", "returned a misaligned block", "handed out a block that is still held",
    "lost the first word of a live block",  "lost a word of a live block", "freed a block twice"};

}  // namespace

std::string content_problem(const ContentReport& report, std::uint64_t pool_begin) {
  if (report.ledger_full != 0) {
    throw std::logic_error("the content check ran out of ledger entries after " + std::to_string(report.next_tag) +
                           " mallocs: the workload's mallocs_at_most() is too small");
  }
  std::string kinds;
  for (std::uint32_t kind = 0; kind < content_fault_kinds; ++kind) {
    if (report.counts[kind] == 0) continue;
    kinds += (kinds.empty() ? "" : ", ") + std::to_string(report.counts[kind]) + " x " + names[kind];
  }
  if (kinds.empty()) return {};

  const auto& first = report.first;
  const bool in_pool = pool_begin != 0 && first.address >= pool_begin;
  std::array<char, 200> text{};
  std::snprintf(text.data(), text.size(),
                "thread %u, block of %llu B at %s0x%llx, byte %llu: expected 0x%08x, found 0x%08x", first.thread,
                static_cast<unsigned long long>(first.bytes), in_pool ? "pool+" : "",
                static_cast<unsigned long long>(in_pool ? first.address - pool_begin : first.address),
                static_cast<unsigned long long>(first.offset), first.expected, first.found);
  return "wrong contents: " + kinds + "; first: " + names[static_cast<std::uint32_t>(first.fault)] + ", " + text.data();
}

}  // namespace allocbench
