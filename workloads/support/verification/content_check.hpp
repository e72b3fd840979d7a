// ContentCheck holds the device memory of one pass with Checked<A>, and gives its verdict.
#pragma once

#include <string>

#include "allocators/support/adaptors/checked.hpp"
#include "simt/simt.hpp"
#include "workloads/support/verification/content_verdict.hpp"
#include "workloads/support/verification/pointer_check.hpp"

namespace allocbench {

class ContentCheck {
 public:
  // `mallocs` is the largest number of mallocs of the pass.
  ContentCheck(simt::Stream& stream, std::uint64_t mallocs, const PointerRules& rules)
      : stream_(stream), rules_(rules), report_(1), entries_(mallocs) {
    report_.fill_bytes(stream, 0);
    entries_.fill_bytes(stream, 0);
  }

  // Returns the ledger for AllocatorHandle::observed().
  ContentLedger ledger() const {
    ContentLedger ledger{.report = report_.data(),
                         .entries = entries_.data(),
                         .capacity = static_cast<std::uint32_t>(entries_.size()),
                         .alignment = rules_.alignment};
    if (rules_.pool_end != 0) {
      ledger.pool_begin = rules_.pool_begin;
      ledger.pool_end = rules_.pool_end;
    }
    return ledger;
  }

  // Returns the number of frees that were reported as mistakes and not passed on.
  std::uint64_t wrong_frees() const {
    const ContentReport found = report_.to_host(stream_).front();
    return std::uint64_t{found.counts[static_cast<std::uint32_t>(ContentFault::freed_twice)]} +
           found.counts[static_cast<std::uint32_t>(ContentFault::header_overwritten)];
  }
  // Returns the mistakes that were found, or an empty text.
  std::string problem() const { return content_problem(report_.to_host(stream_).front(), rules_.pool_begin); }

 private:
  simt::Stream& stream_;
  PointerRules rules_;
  simt::Buffer<ContentReport> report_;
  simt::Buffer<LedgerEntry> entries_;
};

}  // namespace allocbench
