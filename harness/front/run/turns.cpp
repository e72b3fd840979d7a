#include "harness/front/run/turns.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

#include "harness/front/workers/worker_program.hpp"

namespace allocbench::front {
namespace {

// Returns a sort key that makes batches with the same device heap neighbours. If only the allocator knows the size of
// this heap, batches with the same pool size are neighbours, because the size of the heap is often the same for all
// parameters. Batches with the same pool and parameters are neighbours, too, because they share an instance of the
// allocator and its filled pools.
auto order_in_turn(const Batch& batch) {
  const HeapWish wish = heap_wish(batch);
  return std::tuple(wish.bytes.value_or(0), wish.bytes ? 0 : batch.pool_bytes, wish.question, batch.pool_bytes,
                    batch.allocator_parameters);
}

std::size_t starts_of(const Turn& turn, const FigureBatches& figures, std::uint64_t round) {
  std::size_t starts = 0;
  const Batch* running = nullptr;
  for (const auto& [figure, index] : turn.batches) {
    const Batch& batch = *figures[figure][index];
    for (const Cell& cell : batch.cells) {
      if (cell.least_rounds <= round) continue;
      if (batch.isolates(cell) && !batch.has_heap_share) {
        starts += round == 0 ? 2 : 1;  // the verification may have its own process
        running = nullptr;
      } else {
        if (running != &batch && (running == nullptr || !shares_process(*running, batch))) ++starts;
        running = &batch;
      }
    }
  }
  return starts;
}

}  // namespace

// Predicts whether WorkerSession::load() keeps the process.
bool shares_process(const Batch& running, const Batch& next) {
  return next.has_heap_share || (!next.fresh_by_process && heap_wish(running) == heap_wish(next));
}

std::vector<Turn> make_turns(const FigureBatches& figures) {
  std::vector<Turn> turns;
  std::map<std::string_view, std::size_t> turn_of;
  for (std::size_t figure = 0; figure < figures.size(); ++figure) {
    for (std::size_t index = 0; index < figures[figure].size(); ++index) {
      const std::string& allocator = figures[figure][index]->allocator;
      const auto [place, is_new] = turn_of.emplace(allocator, turns.size());
      if (is_new) turns.push_back({allocator, {}});
      turns[place->second].batches.emplace_back(figure, index);
    }
  }
  const auto batch_of = [&](const auto& place) -> const Batch& { return *figures[place.first][place.second]; };
  for (Turn& turn : turns) {
    std::stable_sort(turn.batches.begin(), turn.batches.end(), [&](const auto& one, const auto& other) {
      return order_in_turn(batch_of(one)) < order_in_turn(batch_of(other));
    });
  }
  return turns;
}

std::vector<std::size_t> process_starts(const std::vector<Turn>& turns, const FigureBatches& figures,
                                        std::uint64_t round) {
  std::vector<std::size_t> starts;
  for (const Turn& turn : turns) starts.push_back(starts_of(turn, figures, round));
  return starts;
}

}  // namespace allocbench::front
