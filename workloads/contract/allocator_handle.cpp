#include "workloads/contract/allocator_handle.hpp"

namespace allocbench {
namespace {

// new[] aligns for every fundamental type; handles hold pointers and numbers.
std::shared_ptr<std::byte[]> bytes_for(std::size_t size) { return std::shared_ptr<std::byte[]>(new std::byte[size]); }

}  // namespace

AllocatorHandle::AllocatorHandle(const AllocatorType& type, Arena& arena, const ParameterValues& parameters)
    : type_(&type), bytes_(bytes_for(type.functions.handle_bytes)) {
  type.functions.create(arena, parameters, bytes_.get());
  observe({});
}

void AllocatorHandle::observe(const CallLedger& calls) {
  observed_ = bytes_for(type_->functions.observed_bytes);
  type_->functions.observe(bytes_.get(), calls, contents_, observed_.get());
}

AllocatorHandle AllocatorHandle::observed(const CallLedger& calls, const ContentLedger& contents) const {
  AllocatorHandle result = *this;
  result.is_observed_ = true;
  result.contents_ = contents;
  result.observe(calls);
  return result;
}

AllocatorHandle AllocatorHandle::uncounted() const { return is_observed() ? observed({}, contents_) : *this; }

AllocatorHandle AllocatorHandle::bare() const {
  AllocatorHandle result = *this;
  result.is_observed_ = false;
  result.contents_ = {};
  result.observe({});
  return result;
}

std::string AllocatorHandle::broken_invariant(simt::Stream& stream) const {
  const auto check = type_->functions.broken_invariant;
  return check == nullptr ? std::string() : check(bytes_.get(), stream);
}

}  // namespace allocbench
