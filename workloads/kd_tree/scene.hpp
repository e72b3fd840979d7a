// This file reads, generates and subdivides triangle meshes. This is host code.
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

// Reads the mesh of a file. `name` is for messages. Throws std::invalid_argument with the file, the line or byte, the
// text found and the texts allowed. Polygons are cut into fans. Degenerate triangles stay.
//
// PLY: The file is ascii or binary_little_endian 1.0. It has an element `vertex` with x, y and z, and an element `face`
// with one list of indices (vertex_indices or vertex_index). Other elements and properties are ignored.
std::vector<Triangle> parse_ply(std::string_view text, const std::string& name);
// Wavefront OBJ: Only `v` and `f` lines are read. Indices count from 1, and negative indices count from the end. The
// parts of an index after its first "/" are ignored.
std::vector<Triangle> parse_obj(std::string_view text, const std::string& name);

// Reads data/scenes/<name> with the ending .ply.gz, .ply, .obj.gz or .obj. The content shows whether the file is
// compressed.
std::vector<Triangle> read_scene(const std::string& name);

// The generators need no file. The same arguments give the same mesh.
//
// Terrain: Generates a height field of hills and noise, a single surface on a grid of equal squares with two triangles
// each.
std::vector<Triangle> generate_terrain(std::uint32_t triangles, std::uint64_t seed);
// Spheres: Generates tessellated spheres of different radii above a floor of two large triangles.
std::vector<Triangle> generate_spheres(std::uint32_t triangles, std::uint64_t seed);
// Soup: Generates triangles anywhere in the unit cube. Each lies in a small cube with an edge of 0.0005 to 0.512, drawn
// about log-uniformly. Many leaves refer to the large triangles.
std::vector<Triangle> generate_soup(std::uint32_t triangles, std::uint64_t seed);

// Cuts each triangle into four, `times` times, through the middles 0.5f * (a + b) of its edges. The pieces of a
// triangle follow each other: three corners, then the middle.
std::vector<Triangle> subdivide(std::vector<Triangle> triangles, std::uint32_t times);

}  // namespace allocbench::kd_tree
