#include "harness/worker/failure.hpp"

#include <new>

#include "simt/cuda/machine_fault.hpp"

namespace allocbench::worker {
namespace {

CellFailure from_fault(const simt::Fault& fault, const Traits& allocator) {
  // An abandoned launch leaves the allocator in an undefined state. reset() repairs it, if the design has reset().
  const bool stale = allocator.fresh == Fresh::by_process;
  switch (fault.kind()) {
    case simt::FaultKind::out_of_memory:
      return {Status::oom, std::string("the host could not allocate device memory for the cell: ") + fault.what()};
    case simt::FaultKind::mask_error:
    case simt::FaultKind::exception:
    case simt::FaultKind::failed_check:
    case simt::FaultKind::nondeterminism:
      return {Status::incorrect, fault.what(), stale};
    case simt::FaultKind::deadlock:
    case simt::FaultKind::livelock:
    case simt::FaultKind::budget:
      return {Status::timeout, fault.what(), stale};
    case simt::FaultKind::environment:
    case simt::FaultKind::device_fault:
      break;
  }
  return {Status::device_fault, fault.what(), true};
}

}  // namespace

std::optional<CellFailure> current_failure(const Traits& allocator) {
  try {
    throw;
  } catch (const CellFailure& failure) {
    return failure;
  } catch (const simt::MachineFault&) {
    return std::nullopt;
  } catch (const simt::Fault& fault) {
    return from_fault(fault, allocator);
  } catch (const std::bad_alloc&) {
    return CellFailure(Status::oom, "the worker ran out of host memory");
  } catch (...) {
    return std::nullopt;
  }
}

}  // namespace allocbench::worker
