// What an ArrayList that a whole grid has grown must look like. Host side; knows nothing of devices.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace allocbench {

// A chunk of the list: address of its first element, and its number of elements of 4 bytes.
struct ListChunk {
  std::uint64_t address;
  std::uint64_t words;
};

// What one call of grow_local() gave to a thread. `intact`: its words still hold what the thread wrote.
struct ListItem {
  std::uint64_t address;
  std::uint32_t thread;
  std::uint32_t block;
  std::uint32_t iteration;
  bool intact;
};

// Every item is intact, the chunks consist of the items and of nothing else, and a chunk holds the items of one call of
// one block in the order of its threads. Empty when that holds, else the first offence.
std::string list_problem(std::vector<ListChunk> chunks, std::vector<ListItem> items, std::uint32_t words_per_item);

// `wanted` lookups are spread evenly over `elements` elements. Lookup i must have found element i * elements / wanted
// of the chunks, which are in the order of the list, or null if the chunks have fewer elements. Empty if that holds.
std::string got_problem(const std::vector<ListChunk>& chunks, const std::vector<std::uint32_t*>& got,
                        std::uint64_t elements);

}  // namespace allocbench
