// Edge lists: read from files, generated, shuffled. Host side.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace allocbench {

// A directed edge between two vertices, named by any 32-bit ids.
struct Arc {
  std::uint32_t source;
  std::uint32_t target;
  friend bool operator==(const Arc&, const Arc&) = default;
};

// Text with one arc per line, "source target", in the order of the text. `name` is for messages. Throws
// std::invalid_argument with the line.
std::vector<Arc> parse_edge_list(std::string_view text, const std::string& name);

// data/graphs/<name>.txt.gz.
std::vector<Arc> read_edge_list(const std::string& name);

// R-MAT (Chakrabarti, Zhan & Faloutsos, SDM 2004) with the quadrant probabilities .57, .19, .19, .05 of Graph500, with
// permuted ids and in random order. Loops and repeated arcs are kept. `vertices` is the bound of the ids, many of which
// have no arc.
std::vector<Arc> generate_edge_list(std::uint32_t vertices, std::uint32_t arcs, std::uint64_t seed);

// Random geometric graph (Penrose 2003): points in the unit square, with arcs both ways between points that are closer
// than 0.55 sqrt(ln n / n). The mean degree is about 0.95 ln n. The degrees of R-MAT are skewed, these are not.
std::vector<Arc> generate_geometric(std::uint32_t vertices, std::uint64_t seed);

// A random order, the same for the same seed and number of arcs.
void shuffle(std::vector<Arc>& arcs, std::uint64_t seed);

// The ids that occur, sorted.
std::vector<std::uint32_t> distinct_ids(const std::vector<Arc>& arcs);

}  // namespace allocbench
