// These functions are operations of a lane on the stores that it holds back.
#include "simt/cpu/store_buffer.hpp"

#include "simt/cpu/history.hpp"
#include "simt/cpu/worker.hpp"

namespace simt {
namespace {

// Makes a store visible and returns the previous value. Only one OS thread runs in deterministic mode, so the memory
// order has no effect; it documents the intent.
std::uint64_t write(const HeldStore& store) {
  if (store.bytes == 4) {
    return __atomic_exchange_n(static_cast<std::uint32_t*>(store.address), static_cast<std::uint32_t>(store.value),
                               __ATOMIC_RELEASE);
  }
  return __atomic_exchange_n(static_cast<std::uint64_t*>(store.address), store.value, __ATOMIC_RELEASE);
}

}  // namespace

const HeldStore* StoreBuffer::last_store_to(const void* address, std::size_t bytes) const {
  for (std::size_t i = held_.size(); i-- > 0;) {
    if (held_[i].overlaps(address, bytes)) return &held_[i];
  }
  return nullptr;
}

bool Lane::hold_back(void* address, std::uint64_t word, std::uint32_t bytes, bool is_release) {
  const std::uint32_t steps = worker->strategy_->steps_held(*this);
  if (steps == 0) {
    before_update(address, bytes, is_release);
    return false;
  }
  stores.add({address, word, bytes, steps, is_release, site});
  advanced();
  if (tracker->history != nullptr) {
    tracker->history->add(
        {worker->steps(), rank_in_grid, worker->launch_->index, bytes, operation, site, address, word, word, "held"});
  }
  return true;
}

bool Lane::sees_own_store(const void* address, std::uint32_t bytes, std::uint64_t& word) {
  const HeldStore* own = stores.last_store_to(address, bytes);
  if (own == nullptr) return false;
  if (own->address == address && own->bytes == bytes) {
    word = own->value;
    return true;
  }
  show_stores(address, bytes);
  return false;
}

void Lane::before_update(const void* address, std::uint32_t bytes, bool is_release) {
  if (is_release) {
    show_stores();
  } else {
    show_stores(address, bytes);
  }
}

void Lane::show_stores(const void* address, std::size_t bytes) {
  stores.release_overlapping(address, bytes, [this](const HeldStore& store) { show(store); });
}

void Lane::show_stores() {
  stores.release_all([this](const HeldStore& store) { show(store); });
}

void Lane::age_stores() {
  stores.age([this](const HeldStore& store) { show(store); });
}

void Lane::show(const HeldStore& store) {
  const std::uint64_t before = write(store);
  if (tracker->history != nullptr) {
    tracker->history->add({worker->steps(), rank_in_grid, worker->launch_->index, store.bytes, Operation::held_store,
                           store.site, store.address, before, store.value, nullptr});
  }
  tracker->progress = true;
  tracker->word_changed = true;
  if (tracker->watched.count(store.address) != 0) worker->wake_watchers(store.address);
}

// Other lanes may still run between the lane's last step and the time when its stores become visible.
void Lane::wait_for_stores(CallSite call_site) {
  worker->step(*this, call_site, Operation::held_store, Reason::atomic);
  show_stores();
}

bool Worker::show_all_stores() {
  bool any = false;
  for (Block& block : slots_) {
    if (block.live == 0) continue;
    for (std::uint32_t rank = 0; rank < block.size; ++rank) {
      Lane& lane = block.lanes[rank];
      any = any || !lane.stores.empty();
      lane.show_stores();
    }
  }
  return any;
}

}  // namespace simt
