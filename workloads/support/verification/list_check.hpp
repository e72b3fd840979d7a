// This file checks an ArrayList that a whole grid has grown. This is host code and does not depend on devices.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace allocbench {

// A chunk of the list: the address of its first element, and its number of elements of 4 bytes.
struct ListChunk {
  std::uint64_t address;
  std::uint64_t words;
};

// The result of one call of grow() or grow_local() for a thread. `intact` says whether the words still have the values
// that the thread wrote.
struct ListItem {
  std::uint64_t address;
  std::uint32_t thread;
  std::uint32_t block;
  std::uint32_t iteration;
  bool intact;
};

// Checks that every item is intact and that the chunks consist of exactly the items. A chunk must have the items of one
// call of one block, in the order of its threads. Returns the first mistake, or an empty text.
std::string list_problem(std::vector<ListChunk> chunks, std::vector<ListItem> items, std::uint32_t words_per_item);

// Checks lookups that are spread evenly over `elements` elements. Let n be the number of lookups. Lookup i must have
// found element i * elements / n of the chunks, in the order of the list, or null if the chunks have fewer elements.
// Returns the first mistake, or an empty text.
std::string got_problem(const std::vector<ListChunk>& chunks, const std::vector<std::uint32_t*>& got,
                        std::uint64_t elements);

}  // namespace allocbench
