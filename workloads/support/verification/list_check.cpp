#include "workloads/support/verification/list_check.hpp"

#include <algorithm>

namespace allocbench {
namespace {

std::string name(const ListItem& item) {
  return "item " + std::to_string(item.iteration) + " of thread " + std::to_string(item.thread);
}

}  // namespace

std::string list_problem(std::vector<ListChunk> chunks, std::vector<ListItem> items, std::uint32_t words_per_item) {
  const auto by_address = [](const auto& a, const auto& b) { return a.address < b.address; };
  std::sort(chunks.begin(), chunks.end(), by_address);
  std::sort(items.begin(), items.end(), by_address);
  for (const ListItem& item : items) {
    if (!item.intact) return name(item) + " was overwritten";
  }
  auto item = items.begin();
  for (const ListChunk& chunk : chunks) {
    const auto first = item;
    for (std::uint64_t word = 0; word < chunk.words; word += words_per_item, ++item) {
      if (item == items.end() || item->address != chunk.address + 4 * word) {
        return "a chunk of the list holds elements that no thread asked for";
      }
      if (item->block != first->block || item->iteration != first->iteration) {
        return name(*item) + " shares a chunk with " + name(*first);
      }
      if (item != first && item->thread <= (item - 1)->thread) {
        return name(*item) + " comes after that of thread " + std::to_string((item - 1)->thread);
      }
    }
  }
  if (item != items.end()) return name(*item) + " is not in the list";
  return {};
}

std::string got_problem(const std::vector<ListChunk>& chunks, const std::vector<std::uint32_t*>& got,
                        std::uint64_t elements) {
  auto chunk = chunks.begin();
  std::uint64_t before = 0;  // elements in earlier chunks
  for (std::size_t i = 0; i < got.size(); ++i) {
    const std::uint64_t place = elements * i / got.size();
    for (; chunk != chunks.end() && place - before >= chunk->words; ++chunk) before += chunk->words;
    const std::uint64_t expected = chunk == chunks.end() ? 0 : chunk->address + 4 * (place - before);
    if (reinterpret_cast<std::uint64_t>(got[i]) != expected) {
      return "get(" + std::to_string(place) + ") did not find that element";
    }
  }
  return {};
}

}  // namespace allocbench
