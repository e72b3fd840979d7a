#include "harness/front/run/turns.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

#include "harness/front/workers/worker_program.hpp"

namespace allocbench::front {
namespace {

// Returns the sort key of a turn. If only the allocator knows the size of the device heap, batches with the same pool
// size are neighbours, because the size of the heap is often the same for all parameters.
auto order_in_turn(const Batch& batch) {
  const HeapWish wish = heap_wish(batch);
  return std::tuple(wish.bytes.value_or(0), wish.bytes ? 0 : batch.pool_bytes, wish.question, batch.pool_bytes,
                    batch.allocator_parameters);
}

}  // namespace

// Predicts whether WorkerSession::load() keeps the process.
bool shares_process(const Batch& running, const Batch& next) {
  return next.has_heap_share || (!next.fresh_by_process && heap_wish(running) == heap_wish(next));
}

std::vector<Turn> make_turns(const std::vector<const Batch*>& batches) {
  std::vector<Turn> turns;
  std::map<std::string_view, std::size_t> turn_of;
  for (const Batch* batch : batches) {
    const auto [place, is_new] = turn_of.emplace(batch->allocator, turns.size());
    if (is_new) turns.emplace_back();
    turns[place->second].push_back(batch);
  }
  for (Turn& turn : turns) {
    std::ranges::stable_sort(turn, {}, [](const Batch* batch) { return order_in_turn(*batch); });
  }
  return turns;
}

std::size_t process_starts(const Turn& turn, std::uint64_t round) {
  std::size_t starts = 0;
  const Batch* running = nullptr;
  for (const Batch* batch : turn) {
    for (const Cell& cell : batch->cells) {
      if (cell.least_rounds <= round) continue;
      if (batch->isolates(cell) && !batch->has_heap_share) {
        starts += round == 0 ? 2 : 1;  // the verification may have its own process
        running = nullptr;
      } else {
        if (running != batch && (running == nullptr || !shares_process(*running, *batch))) ++starts;
        running = batch;
      }
    }
  }
  return starts;
}

}  // namespace allocbench::front
