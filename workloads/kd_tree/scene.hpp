// Triangle meshes: read from files, generated, subdivided. Host side.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace allocbench::kd_tree {

struct Corner {
  float x, y, z;
  friend bool operator==(const Corner&, const Corner&) = default;
};
using Triangle = std::array<Corner, 3>;

// The mesh of a file. `name` is for messages. Errors are std::invalid_argument with the file, the line or byte, the
// found text and the allowed ones. Polygons are cut into fans; degenerate triangles stay.
//
// PLY: ascii or binary_little_endian 1.0, with an element `vertex` that has x, y and z and an element `face` with one
// list of indices (vertex_indices or vertex_index); other elements and properties are passed over.
std::vector<Triangle> parse_ply(std::string_view text, const std::string& name);
// Wavefront OBJ: `v` and `f` lines (indices from 1, negative ones from the end, "/"-parts ignored); all others are
// passed over.
std::vector<Triangle> parse_obj(std::string_view text, const std::string& name);

// data/scenes/<name> with one of the endings .ply.gz, .ply, .obj.gz and .obj; packed or not is seen from the content.
std::vector<Triangle> read_scene(const std::string& name);

// Made without a file, the same for the same arguments.
//
// Terrain: a height field of hills and noise, two triangles per square: even sizes, one surface.
std::vector<Triangle> generate_terrain(std::uint32_t triangles, std::uint64_t seed);
// Spheres: a field of tessellated spheres of different radius on a floor of two large triangles.
std::vector<Triangle> generate_spheres(std::uint32_t triangles, std::uint64_t seed);
// Soup: triangles anywhere, whose edges are log-uniform between a thousandth and half of the room: the large ones are
// referenced from many leaves.
std::vector<Triangle> generate_soup(std::uint32_t triangles, std::uint64_t seed);

// Each triangle cut into four through the middles of its edges, 0.5f * (a + b), `times` times. The pieces of a triangle
// follow each other: three corners, then the middle.
std::vector<Triangle> subdivide(std::vector<Triangle> triangles, std::uint32_t times);

}  // namespace allocbench::kd_tree
