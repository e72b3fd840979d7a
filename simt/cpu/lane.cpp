// These functions pass calls of Thread, Group and atomic_ref from a lane to its worker. They are compiled apart from
// device code, so that the headers of device code do not include the scheduler.
#include "simt/cpu/lane.hpp"

#include "simt/cpu/device_heap.hpp"
#include "simt/cpu/diagnosis.hpp"
#include "simt/cpu/history.hpp"
#include "simt/cpu/lane_order.hpp"
#include "simt/cpu/worker.hpp"

namespace simt {

using lane_order::ExecutorScope;

void Lane::before_access(CallSite call_site, const void* of_word) {
  const ExecutorScope scope(*this);
  accessed = of_word;
  if (!stores.empty()) [[unlikely]]
    age_stores();
  worker->step(*this, call_site, Operation::atomic, Reason::atomic);
}

void Lane::spin_hint(CallSite call_site) {
  const ExecutorScope scope(*this);
  age_stores();
  worker->step(*this, call_site, Operation::spin_hint, Reason::spin);
  remember_operation();
}

std::uint64_t Lane::collective(Operation kind, LaneMask group, CallSite call_site, std::uint64_t argument,
                               std::uint32_t from) {
  const ExecutorScope scope(*this);
  age_stores();
  if (kind == Operation::sync) order_stores(call_site);
  mask = group;
  value = argument;
  source = from;
  worker->count_step(*this, call_site, kind);
  worker->collective(*this);
  remember_operation();
  return result;
}

LaneMask Lane::converge(CallSite call_site) {
  const ExecutorScope scope(*this);
  age_stores();
  worker->count_step(*this, call_site, Operation::converged);
  worker->converge(*this);
  remember_operation();
  return mask;
}

void Lane::block_barrier(CallSite call_site) {
  const ExecutorScope scope(*this);
  order_stores(call_site);
  worker->count_step(*this, call_site, Operation::block_barrier);
  worker->block_barrier(*this);
  remember_operation();
}

std::uint64_t Lane::clock() {
  // A loop that watches the clock ends by itself, so it does not count as spinning.
  advanced();
  // Each launch of a device begins at a different time, as on a GPU. So code that draws numbers from the clock draws
  // different ones in each launch.
  constexpr std::uint64_t between_launches = 1'000'003;
  return worker->launch_->index * between_launches + worker->steps();
}

void Lane::fail(FaultKind kind, const char* text, CallSite call_site) {
  const ExecutorScope scope(*this);
  worker->fail(*this, kind, lane_name(*this) + " at " + site_text(call_site) + ": " + text);
  worker->leave(*this);
}

void* Lane::heap_malloc(std::size_t bytes, CallSite call_site) {
  const ExecutorScope scope(*this);
  age_stores();
  worker->step(*this, call_site, Operation::device_heap, Reason::atomic);
  DeviceHeapMemory& heap = worker->launch_->device_heap;
  void* memory = heap.malloc(bytes);
  lane_order::heap_allocated(*this, heap);
  if (tracker->old_values != nullptr) tracker->old_values->heap_allocated(rank_in_grid);
  if (memory != nullptr) advanced();
  return memory;
}

void Lane::heap_free(void* memory, CallSite call_site) {
  const ExecutorScope scope(*this);
  order_stores(call_site);
  worker->step(*this, call_site, Operation::device_heap, Reason::atomic);
  DeviceHeapMemory& heap = worker->launch_->device_heap;
  advanced();
  lane_order::heap_freed(*this, heap);
  if (tracker->old_values != nullptr) tracker->old_values->heap_freed(rank_in_grid);
  if (!heap.free(memory)) {
    fail(FaultKind::device_fault, "freed a pointer that is not a live block of the device heap", call_site);
  }
}

void Lane::remember_access(const void* address, std::uint64_t before, std::uint64_t after, std::uint32_t bytes) {
  tracker->history->add(
      {worker->steps(), rank_in_grid, worker->launch_->index, bytes, operation, site, address, before, after, nullptr});
}

void Lane::remember_operation() {
  if (tracker->history == nullptr) return;
  tracker->history->add(
      {worker->steps(), rank_in_grid, worker->launch_->index, 0, operation, site, nullptr, mask, result, nullptr});
}

void Lane::note(const char* text, std::uint64_t with_value, CallSite call_site) {
  if (tracker->history == nullptr) return;
  tracker->history->add({worker->steps(), rank_in_grid, worker->launch_->index, 0, Operation::none, call_site, nullptr,
                         0, with_value, text});
}

void Lane::park() {
  const ExecutorScope scope(*this);
  worker->park(*this);
}

void Lane::wake_watchers(const void* address) {
  const ExecutorScope scope(*this);
  worker->wake_watchers(address);
}

}  // namespace simt
