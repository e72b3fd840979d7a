#include "harness/front/run/turns.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>

#include "harness/front/run/worker_program.hpp"

namespace allocbench::front {
namespace {

// Questions about one pool often have one answer, whatever the parameters are.
auto heap_order(const Batch& batch) {
  const HeapWish wish = heap_wish(batch);
  return std::tuple(wish.bytes.value_or(0), wish.bytes ? 0 : batch.pool_bytes, wish.question);
}

std::size_t starts_of(const Turn& turn, const FigureBatches& figures, std::uint64_t round) {
  std::size_t starts = 0;
  std::optional<HeapWish> running;
  for (const auto& [figure, index] : turn.batches) {
    const Batch& batch = *figures[figure][index];
    std::size_t cells = 0;
    std::size_t alone = 0;  // with a process for each sample
    for (const Cell& cell : batch.cells) {
      if (cell.least_rounds <= round) continue;
      ++(batch.fresh_by_process && cell.state == "fresh" ? alone : cells);
    }
    starts += alone * (round == 0 ? 2 : 1);  // the verification has one as well
    if (cells == 0) continue;
    const HeapWish wish = heap_wish(batch);
    if (batch.fresh_by_process || running != wish) ++starts;
    running = batch.fresh_by_process ? std::nullopt : std::optional(wish);
  }
  return starts;
}

}  // namespace

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
      return heap_order(batch_of(one)) < heap_order(batch_of(other));
    });
  }
  return turns;
}

std::size_t process_starts(const std::vector<Turn>& turns, const FigureBatches& figures, std::uint64_t round) {
  std::size_t starts = 0;
  for (const Turn& turn : turns) starts += starts_of(turn, figures, round);
  return starts;
}

}  // namespace allocbench::front
