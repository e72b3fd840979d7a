// These functions read, generate and shuffle edge lists. This is host code.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace allocbench {

// A directed edge between two vertices. Vertices have arbitrary 32-bit ids.
struct Arc {
  std::uint32_t source;
  std::uint32_t target;
  friend bool operator==(const Arc&, const Arc&) = default;
};

// Reads a text with one arc per line, "source target", in the order of the text. `name` is for messages. Throws
// std::invalid_argument with the line's number if a line is wrong.
std::vector<Arc> parse_edge_list(std::string_view text, const std::string& name);

// Reads data/graphs/<name>.txt.gz.
std::vector<Arc> read_edge_list(const std::string& name);

// Generates an R-MAT graph (Chakrabarti, Zhan & Faloutsos, SDM 2004) with the quadrant probabilities .57, .19, .19, .05
// of Graph500. The ids are permuted, and the arcs are in random order. Loops and repeated arcs are kept. All ids are
// below `vertices`. Some of them may have no arc.
std::vector<Arc> generate_edge_list(std::uint32_t vertices, std::uint32_t arcs, std::uint64_t seed);

// Generates a random geometric graph (Penrose 2003). Points lie in the unit square. Points that are closer than 0.55
// sqrt(ln n / n) are connected by arcs both ways. The mean degree is about 0.95 ln n. Unlike the degrees of an R-MAT
// graph, the degrees are not skewed.
std::vector<Arc> generate_geometric(std::uint32_t vertices, std::uint64_t seed);

// Puts the arcs into a random order. The same seed and number of arcs give the same order.
void shuffle(std::vector<Arc>& arcs, std::uint64_t seed);

// Returns the ids that occur, sorted.
std::vector<std::uint32_t> distinct_ids(const std::vector<Arc>& arcs);

}  // namespace allocbench
