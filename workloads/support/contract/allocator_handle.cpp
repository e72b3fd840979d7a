#include "workloads/support/contract/allocator_handle.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "allocators/support/adaptors/trace_recorder.hpp"
#include "allocators/support/contract/allocator.hpp"
#include "workloads/support/contract/outcome.hpp"

namespace allocbench {
namespace {

// new[] aligns for every fundamental type, and handles contain only pointers and numbers.
std::shared_ptr<std::byte[]> bytes_for(std::size_t size) { return std::shared_ptr<std::byte[]>(new std::byte[size]); }

// Returns the handle of a new instance. The last copy of the pointer ends the instance.
std::shared_ptr<std::byte[]> created(const AllocatorType& type, Arena& arena, const ParameterValues& parameters) {
  std::shared_ptr<std::byte[]> bytes = bytes_for(type.functions.handle_bytes);
  type.functions.create(arena, parameters, bytes.get());
  if (type.functions.destroy == nullptr) return bytes;
  std::byte* const handle = bytes.get();
  return {handle, [bytes, destroy = type.functions.destroy](std::byte* instance) { destroy(instance); }};
}

// Returns the name of the kernel without its namespaces.
std::string kernel_name(const std::type_info& kernel) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(kernel.name(), nullptr, nullptr, &status),
                                                    std::free);
  const std::string name = text ? text.get() : kernel.name();
  const std::size_t scope = name.substr(0, name.find('<')).rfind("::");
  return scope == std::string::npos ? name : name.substr(scope + 2);
}

}  // namespace

AllocatorHandle::AllocatorHandle(const AllocatorType& type, Arena& arena, const ParameterValues& parameters)
    : type_(&type),
      instance_(new Instance{.arena = arena, .parameters = parameters}),
      bytes_(created(type, arena, parameters)) {
  if (type.traits.pool == PoolLocation::arena && !arena.has_pool()) {
    throw Unsupported(std::string(type.traits.display_name) +
                      " says that its blocks live in the arena's pool, but never asked the arena for it. Allowed: "
                      "arena.pool() in create(), or PoolLocation::own with own_pool()");
  }
  observe({});
}

void AllocatorHandle::reset(simt::Stream& stream) const {
  type_->functions.reset(bytes_.get(), stream);
  instance_->fresh = true;
}

// A pool of zero bytes gives nothing to the device heap. So the device heap never serves requests that such a pool
// would serve.
bool AllocatorHandle::leaves_device_heap_alone(std::optional<std::uint64_t> largest_request) const {
  if (traits().pool != PoolLocation::arena_and_device_heap) return traits().pool == PoolLocation::arena;
  return largest_request && *largest_request <= type_->functions.max_request(0, instance_->parameters);
}

bool AllocatorHandle::may_start_from_copy(const FilledPool::Requests& requests) const {
  return requests.count != 0 && !counts_ && failures_.threshold == 0 && traits().fresh == Fresh::by_reset &&
         leaves_device_heap_alone(requests.bytes);
}

std::size_t AllocatorHandle::restore(const FilledPool::Requests& requests, void** blocks) const {
  const FilledPool* const filled = instance_->filled.find(requests);
  if (filled == nullptr) return 0;
  filled->restore(instance_->arena, blocks);
  instance_->fresh = false;
  return filled->requests().count;
}

void AllocatorHandle::keep(const FilledPool::Requests& requests, void* const* blocks) const {
  instance_->filled.keep(instance_->arena, requests, blocks);
}

Pool AllocatorHandle::own_pool() const {
  return type_->functions.own_pool == nullptr ? Pool{} : type_->functions.own_pool(bytes_.get());
}

void AllocatorHandle::observe(const CallLedger& calls) {
  calls_ = calls;
  observed_ = bytes_for(type_->functions.observed_bytes);
  CallLedger bounded = calls;
  bounded.deadline = deadline_;
  if (recorder_ != nullptr) bounded.trace = recorder_->ledger();
  type_->functions.observe(bytes_.get(), alignment_, bounded, failures_, contents_, observed_.get());
}

void AllocatorHandle::end_calls_at(const simt::DeadlineView& deadline) {
  deadline_ = deadline;
  observe({});
}

AllocatorHandle AllocatorHandle::observed(const CallLedger& calls, const ContentLedger& contents) const {
  AllocatorHandle result = *this;
  result.is_observed_ = true;
  result.contents_ = contents;
  result.counts_ = calls.sums != nullptr;
  result.observe(calls);
  return result;
}

AllocatorHandle AllocatorHandle::uncounted() const { return is_observed() ? observed({}, contents_) : *this; }

// Stops counting, because the next calls belong to no measurement.
AllocatorHandle AllocatorHandle::failing(const FailureRule& failures) const {
  AllocatorHandle result = *this;
  result.is_observed_ = true;
  result.counts_ = false;
  result.failures_ = failures;
  result.observe({});
  return result;
}

AllocatorHandle AllocatorHandle::bare() const {
  AllocatorHandle result = *this;
  result.is_observed_ = false;
  result.recorder_ = nullptr;
  result.counts_ = false;
  result.failures_ = {};
  result.contents_ = {};
  result.observe({});
  return result;
}

AllocatorHandle AllocatorHandle::traced(TraceRecorder& recorder) const {
  AllocatorHandle result = observed({}, {});
  result.recorder_ = &recorder;
  return result;
}

// Each kernel of a trace needs its own ledger.
void AllocatorHandle::begin_traced(const std::type_info& kernel_type) const {
  if (!type_->has_observed_kernel(kernel_type)) {
    throw CellFailure(Status::unsupported, std::string(type_->traits.display_name) +
                                               " has no form of this workload's kernels that leaves a trace. Record it "
                                               "with comb: what an application asks for hardly depends on its "
                                               "allocator");
  }
  CallLedger calls{.deadline = deadline_, .trace = recorder_->ledger()};
  calls.trace.log_alignment = alignment_ == 0 ? 0 : static_cast<std::uint32_t>(std::countr_zero(alignment_));
  type_->functions.observe(bytes_.get(), alignment_, calls, failures_, contents_, observed_.get());
}

void AllocatorHandle::end_traced(const std::type_info& kernel, simt::LaunchShape shape) const {
  recorder_->end_kernel(kernel_name(kernel), shape);
}

AllocatorHandle AllocatorHandle::aligned(std::uint32_t alignment, std::span<const std::uint64_t> sizes) const {
  const bool natural = std::ranges::all_of(
      sizes, [&](std::uint64_t bytes) { return type_->functions.alignment_of(bytes_.get(), bytes) >= alignment; });
  if (natural) return *this;
  AllocatorHandle result = *this;
  result.alignment_ = alignment;
  result.aligned_ = bytes_for(type_->functions.aligned_bytes);
  type_->functions.align(bytes_.get(), alignment, result.aligned_.get());
  result.observe(calls_);
  return result;
}

AllocatorHandle AllocatorHandle::reset_afterwards() const {
  AllocatorHandle result = *this;
  result.is_reset_afterwards_ = true;
  return result;
}

AllocatorHandle AllocatorHandle::telling(Stages& stages) const {
  AllocatorHandle result = *this;
  result.stages_ = &stages;
  return result;
}

std::string AllocatorHandle::broken_invariant(simt::Stream& stream) const {
  const auto check = type_->functions.broken_invariant;
  return check == nullptr ? std::string() : check(bytes_.get(), stream);
}

}  // namespace allocbench
