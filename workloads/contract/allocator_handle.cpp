#include "workloads/contract/allocator_handle.hpp"

#include "allocators/contract/allocator.hpp"

namespace allocbench {
namespace {

// new[] aligns for every fundamental type; handles hold pointers and numbers.
std::shared_ptr<std::byte[]> bytes_for(std::size_t size) { return std::shared_ptr<std::byte[]>(new std::byte[size]); }

// The handle of a new instance, which ends with the last copy of the pointer.
std::shared_ptr<std::byte[]> created(const AllocatorType& type, Arena& arena, const ParameterValues& parameters) {
  std::shared_ptr<std::byte[]> bytes = bytes_for(type.functions.handle_bytes);
  type.functions.create(arena, parameters, bytes.get());
  if (type.functions.destroy == nullptr) return bytes;
  std::byte* const handle = bytes.get();
  return {handle, [bytes, destroy = type.functions.destroy](std::byte* instance) { destroy(instance); }};
}

}  // namespace

AllocatorHandle::AllocatorHandle(const AllocatorType& type, Arena& arena, const ParameterValues& parameters)
    : type_(&type), bytes_(created(type, arena, parameters)) {
  if (type.traits.pool == PoolLocation::arena && !arena.has_pool()) {
    throw Unsupported(std::string(type.traits.display_name) +
                      " says that its blocks live in the arena's pool, but never asked the arena for it. Allowed: "
                      "arena.pool() in create(), or PoolLocation::own with own_pool()");
  }
  observe({});
}

Pool AllocatorHandle::own_pool() const {
  return type_->functions.own_pool == nullptr ? Pool{} : type_->functions.own_pool(bytes_.get());
}

void AllocatorHandle::observe(const CallLedger& calls) {
  observed_ = bytes_for(type_->functions.observed_bytes);
  CallLedger bounded = calls;
  bounded.deadline = deadline_;
  type_->functions.observe(bytes_.get(), bounded, failures_, contents_, observed_.get());
}

void AllocatorHandle::end_calls_at(const simt::DeadlineView& deadline) {
  deadline_ = deadline;
  observe({});
}

AllocatorHandle AllocatorHandle::observed(const CallLedger& calls, const ContentLedger& contents) const {
  AllocatorHandle result = *this;
  result.is_observed_ = true;
  result.contents_ = contents;
  result.observe(calls);
  return result;
}

AllocatorHandle AllocatorHandle::uncounted() const { return is_observed() ? observed({}, contents_) : *this; }

// Calls that were counted are not counted any more: they belong to no measurement.
AllocatorHandle AllocatorHandle::failing(const FailureRule& failures) const {
  AllocatorHandle result = *this;
  result.is_observed_ = true;
  result.failures_ = failures;
  result.observe({});
  return result;
}

AllocatorHandle AllocatorHandle::bare() const {
  AllocatorHandle result = *this;
  result.is_observed_ = false;
  result.failures_ = {};
  result.contents_ = {};
  result.observe({});
  return result;
}

std::string AllocatorHandle::broken_invariant(simt::Stream& stream) const {
  const auto check = type_->functions.broken_invariant;
  return check == nullptr ? std::string() : check(bytes_.get(), stream);
}

}  // namespace allocbench
