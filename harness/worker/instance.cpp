#include "harness/worker/instance.hpp"

#include <chrono>

#include "allocators/support/contract/allocator.hpp"
#include "harness/worker/measured_cell.hpp"
#include "protocol/event.hpp"
#include "workloads/support/verification/pointer_rules.hpp"
#include "workloads/support/verification/reset_check.hpp"

namespace allocbench::worker {

std::unique_ptr<AllocatorInstance> create_instance(const AllocatorType& type, simt::Stream& stream,
                                                   std::size_t pool_bytes, const ParameterValues& parameters,
                                                   ProcessState& process) {
  try {
    return std::make_unique<Instance>(type, stream, pool_bytes, parameters, process);
  } catch (const Unsupported& why) {
    throw CellFailure(Status::unsupported, why.what());
  }
}

Instance::Instance(const AllocatorType& type, simt::Stream& stream, std::size_t pool_bytes,
                   const ParameterValues& parameters, ProcessState& process)
    : stream_(stream),
      process_(process),
      deadline_(stream),
      setting_{.allocator = type, .pool_bytes = pool_bytes, .parameters = parameters, .seed = 0} {
  create_timed();
}

void Instance::create_timed() {
  const auto start = std::chrono::steady_clock::now();
  create();
  stream_.synchronize();
  init_seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Creates the allocator in its own memory. The memory of an earlier instance is released first.
void Instance::create() {
  handle_.reset();
  arena_.emplace(stream_, setting_.pool_bytes);
  handle_.emplace(setting_.allocator, *arena_, setting_.parameters);
  handle_->end_calls_at(deadline_.view());
}

std::unique_ptr<Cell> Instance::open(const CellRequest& request) {
  const WorkloadType& workload = *request.workload;
  const std::string allocator = setting_.display_name();
  if (traits().test_only && workload.traits.name != "alloc_free") {
    throw CellFailure(Status::unsupported, allocator + " is deliberately broken and runs only in alloc_free");
  }
  if (traits().form == Form::ablation && workload.traits.application) {
    throw CellFailure(Status::unsupported,
                      allocator + " is an ablation, which runs only in micro tests; in applications use the full form");
  }
  RunSetting setting = setting_;
  setting.seed = request.settings.seed;
  try {
    const std::string why = workload.unsupported(request.parameters, setting);
    if (!why.empty()) throw CellFailure(Status::unsupported, why);
    return std::make_unique<MeasuredCell>(*this, setting, request, workload.traits,
                                          workload.open(request.parameters, setting, stream_));
  } catch (const std::invalid_argument& contradiction) {
    throw CellFailure(Status::unsupported, contradiction.what());
  }
}

void Instance::reset(bool without_device_heap) {
  if (traits().fresh == Fresh::by_reset) {
    handle_->reset(stream_);
  } else if (without_device_heap) {
    create();
  }
  last_user = nullptr;
}

PointerRules Instance::rules(bool check_overlap) const {
  return pointer_rules(*handle_, const_cast<Arena&>(*arena_), check_overlap);
}

void Instance::prepare_to_flush_l2() {
  if (over_l2_.size() != 0) return;
  if (!simt::has_device_cache) {
    throw CellFailure(Status::unsupported, "the CPU back end has no L2 cache to flush; set l2 to \"warm\"");
  }
  over_l2_ = simt::Buffer<std::byte>(2 * stream_.device().properties().l2_bytes);
}

void Instance::flush_l2() { over_l2_.fill_bytes(stream_, 0); }

void Instance::fail_if_late() {
  stream_.synchronize();
  if (deadline_.passed()) throw CellFailure(Status::timeout, protocol::no_answer_reason);
}

const std::string& Instance::check_reset(std::uint32_t lanes_per_warp) {
  if (reset_failure_) throw *reset_failure_;
  if (reset_verdict_) return *reset_verdict_;
  const std::size_t known = process_.reset_findings.count();
  try {
    ResetCheck check(stream_, setting_, rules(!traits().recycles_unfreed), lanes_per_warp, process_.reset_findings);
    std::string verdict = check.run(*handle_);
    fail_if_late();
    return reset_verdict_.emplace(std::move(verdict));
  } catch (const CellFailure& failure) {
    if (deadline_.passed()) {
      process_.reset_findings.forget_after(known);
    } else {
      reset_failure_ = failure;
    }
    throw;
  }
}

}  // namespace allocbench::worker
